/** The application for a person in a session of the page. Threads that begin with what such a person sends are open. */
import type { Application } from './application.ts';
import type { DraftSend } from './drafts/use-cases.ts';

const views = new WeakMap<Application, Application>();

/** One view for each application, made at its first use. */
export function actAsPerson(application: Application): Application {
  const view = views.get(application) ?? makeView(application);
  views.set(application, view);
  return view;
}

const named = <T extends object>(request: T) => ({ ...request, isByPerson: true });
// Answers are in the threads of what they answer.
const namedDraft = (sent: DraftSend): DraftSend =>
  sent.kind === 'send' ? { kind: 'send', request: named(sent.request) } : sent;

const makeView = (application: Application): Application => ({
  ...application,
  sendMessage: (request, folder) => application.sendMessage(named(request), folder),
  sendOnce: (key, request, folder) => application.sendOnce(key, named(request), folder),
  sendDraft: (request, folder) =>
    application.sendDraft({ ...request, read: (draft) => namedDraft(request.read(draft)) }, folder),
});

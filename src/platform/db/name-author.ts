/** Names the key that acts, for the events that a transaction writes; see migrations/0001_schema/event-triggers.ts. */
import { run, statement, type Executor } from './statement.ts';

/** Applies until the end of the transaction. @param keyId null: there is no key to name */
export async function nameAuthor(executor: Executor, keyId: string | null | undefined): Promise<void> {
  if (keyId !== null && keyId !== undefined) await run(executor, NAME_AUTHOR, { keyId });
}

const NAME_AUTHOR = statement('name-author', `select set_config('email_worker.author', $keyId::text, true)`);

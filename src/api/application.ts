/**
 * The use cases of the service, as its edges (HTTP, CLI, listeners) see them. service/create-application.ts builds one.
 */
import type { CustomerUseCases } from '../areas/customers/use-cases.ts';
import type { DraftUseCases } from '../areas/drafts/use-cases.ts';
import type { EmailUseCases } from '../areas/emails/use-cases.ts';
import type { ErasureUseCases } from '../areas/erase/erase-people.ts';
import type { EventUseCases } from '../areas/events/use-cases.ts';
import type { Readiness } from './health/check-readiness.ts';
import type { ReceiveUseCases } from '../areas/receive/use-cases.ts';
import type { ReplyUseCases } from '../areas/reply/use-cases.ts';
import type { SendUseCases } from '../areas/send/use-cases.ts';
import type { UploadUseCases } from '../areas/uploads/use-cases.ts';
import type { ThreadUseCases } from '../areas/threads/use-cases.ts';
import type { UnsubscribeUseCases } from '../areas/unsubscribes/use-cases.ts';

export interface Application
  extends
    EmailUseCases,
    EventUseCases,
    SendUseCases,
    UploadUseCases,
    ReplyUseCases,
    DraftUseCases,
    ReceiveUseCases,
    CustomerUseCases,
    ErasureUseCases,
    ThreadUseCases,
    UnsubscribeUseCases {
  /** Probes every dependency, each with a deadline. */
  checkReadiness(): Promise<Readiness>;
}

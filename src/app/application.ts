/**
 * The use cases of the service, as its edges (HTTP, CLI, listeners) see them. service/create-application.ts builds one.
 */
import type { CustomerUseCases } from './customers/use-cases.ts';
import type { DraftUseCases } from './drafts/use-cases.ts';
import type { EmailUseCases } from './emails/use-cases.ts';
import type { ErasureUseCases } from './erase/erase-people.ts';
import type { EventUseCases } from './events/use-cases.ts';
import type { Readiness } from './check-readiness.ts';
import type { ReceiveUseCases } from './receive/use-cases.ts';
import type { ReplyUseCases } from './reply/use-cases.ts';
import type { SendUseCases } from './send/use-cases.ts';
import type { UploadUseCases } from './uploads/use-cases.ts';
import type { ThreadUseCases } from './threads/use-cases.ts';
import type { UnsubscribeUseCases } from './unsubscribes/use-cases.ts';

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

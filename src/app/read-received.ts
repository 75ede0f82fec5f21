/** Understands the raw bytes of a received message. Whatever they are, something comes out that can be recorded. */
import { classifyAutomatic, type AutomaticContext, type AutomaticMail } from '../core/delivery/automatic.ts';
import { readBounce, type Bounce } from '../core/delivery/bounce.ts';
import { MessageLimitError } from '../core/mime/message-limit-error.ts';
import { createMessageParser, parseMessage } from '../core/mime/parse.ts';
import type { ParsedMessage } from '../core/mime/parsed-message.ts';
import { newText } from '../core/mime/reply-text.ts';
import type { Content, Logger } from './ports.ts';
import { readContent, sha256, sizeOf } from './prepare-attachments.ts';

export interface ReadReceivedPorts {
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
  readonly logger: Logger;
}

export interface ReceivedMessage {
  readonly message: ParsedMessage;
  readonly replyText: string;
  readonly automatic: AutomaticMail | null;
  readonly bounce: Bounce | null;
}

/** Throws only when the bytes can't be read. */
export async function readReceived(
  ports: ReadReceivedPorts,
  raw: Content,
  context: AutomaticContext,
): Promise<ReceivedMessage> {
  const parser = createMessageParser();
  try {
    for await (const chunk of readContent(ports, raw)) parser.write(chunk);
    return understand(endOf(parser), context);
  } catch (err) {
    // A fault of ours, or a file that can't be read: the second reading throws again then.
    const digest = await sha256(ports, raw);
    ports.logger.error({ err, sha256: digest }, 'a received message could not be parsed; its bytes are kept');
    return { message: unparsed(raw, digest), replyText: '', automatic: null, bounce: null };
  }
}

function endOf(parser: ReturnType<typeof createMessageParser>): ParsedMessage {
  try {
    return parser.end();
  } catch (error) {
    if (error instanceof MessageLimitError) return error.partial;
    throw error;
  }
}

function understand(message: ParsedMessage, context: AutomaticContext): ReceivedMessage {
  return {
    message,
    replyText: newText(message.text, message.html),
    automatic: classifyAutomatic(message, context),
    bounce: readBounce(message, context),
  };
}

/** Its own by its bytes, so that two of them are never taken for one. */
function unparsed(raw: Content, digest: string): ParsedMessage {
  return {
    ...parseMessage(Buffer.alloc(0)),
    contentDigest: digest,
    sizeBytes: sizeOf(raw),
    defects: ['not_parsed'],
  };
}

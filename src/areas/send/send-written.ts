/** Puts emails whose sender wrote the message itself into the queue; see prepare-written.ts. */
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import { enqueueSend } from './enqueue-send.ts';
import { prepareWritten, type WrittenSend } from './prepare-written.ts';
import type { SendMessagePorts } from './send-message.ts';
import type { SendResult } from './use-cases.ts';

/**
 * Returns once the email is stored durably. Takes over `folder`. Throws the errors of `SendUseCases.sendMessage`, with nothing sent.
 *
 * @param id of the email
 */
export async function sendWritten(
  ports: SendMessagePorts,
  written: WrittenSend,
  folder: SpoolFolder,
  id: string,
): Promise<SendResult> {
  ports.active.begin(id);
  try {
    return await enqueueSend(ports, await prepareWritten(ports, written, folder, id), folder);
  } finally {
    ports.active.end(id);
    // Does nothing once the journal has taken it over.
    await folder.remove();
  }
}

/** The loop that deletes uploads whose day is over. */
import { removeExpiredUploads } from '../app/uploads/create-upload.ts';
import type { RequireCertainty } from '../app/files/file-ports.ts';
import type { UploadPorts } from '../app/uploads/upload-ports.ts';
import type { Logger } from '../app/base/basics.ts';
import { startLoop, type Loop } from './loop.ts';

const INTERVAL_MS = 3_600_000;

export function startUploadCleaner(
  ports: Pick<UploadPorts, 'uploads' | 'blobs'> & { readonly requireCertainty: RequireCertainty },
  logger: Logger,
): Loop {
  return startLoop({
    intervalMs: INTERVAL_MS,
    failure: 'expired uploads could not be deleted; the next try is in an hour',
    logger,
    run: () => removeExpiredUploads(ports),
  });
}

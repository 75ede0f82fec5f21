/** The loop that deletes uploads whose day is over. */
import { removeExpiredUploads } from './create-upload.ts';
import type { RequireCertainty } from '../../platform/files/file-ports.ts';
import type { UploadPorts } from './upload-store.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { startLoop, type Loop } from '../../platform/base/loop.ts';

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

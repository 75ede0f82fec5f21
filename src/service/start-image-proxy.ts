/** A part of the composition root: the image proxy, unless it is off. */
import path from 'node:path';
import { createImageFetcher } from '../connectors/remote-images/fetch-image.ts';
import { createImageCache, removeImageCache } from '../connectors/remote-images/image-cache.ts';
import { guardedLookup } from '../connectors/webhooks/guarded-lookup.ts';
import { requirePublic } from '../connectors/webhooks/public-addresses.ts';
import { resolvePublicName } from '../connectors/webhooks/resolve-host.ts';
import type { ImageUrls } from '../areas/emails/image-urls.ts';
import {
  createRemoteImages,
  refuseRemoteImage,
  type ReadRemoteImage,
} from '../areas/emails/remote-images.ts';
import { NO_METER } from '../platform/base/meter.ts';
import { startImageCleaner } from '../areas/emails/image-cleaner.ts';
import type { Parts } from './open-parts.ts';
import type { Teardown } from './teardown.ts';

export function startImageProxy(
  { config, logger, clock, meter = NO_METER }: Parts,
  imageUrls: ImageUrls,
  hasEmail: (id: string) => Promise<boolean>,
  teardown: Teardown,
): ReadRemoteImage {
  const folder = path.join(config.dataDir, 'remote-images');
  if (!config.hasImageProxy) {
    const removing = removeImageCache(folder).catch((err: unknown) => {
      logger.warn({ err, folder }, 'the remote images of an earlier start could not be deleted');
    });
    teardown.push(() => removing);
    return refuseRemoteImage;
  }
  const cache = createImageCache({ folder, clock });
  const cleaner = startImageCleaner(cache.clean, logger);
  teardown.push(() => cleaner.stop());
  const fetchImage = createImageFetcher({
    lookup: guardedLookup(resolvePublicName, requirePublic),
    checkAddress: requirePublic,
  });
  const now = () => performance.now();
  return createRemoteImages({ imageUrls, hasEmail, fetchImage, cache, meter, now, logger });
}

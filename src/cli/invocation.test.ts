import { describe, expect, it } from 'vitest';
import { formatInvocation } from './invocation.ts';

const inClone = { npm_lifecycle_event: 'cli', npm_package_name: 'email-worker' };

describe('hints name what works', () => {
  it.each([
    ['by npm in a clone', '/srv/mail/dist/main.js', inClone, 'npm run --silent cli --'],
    [
      'by npm start in a clone',
      '/srv/mail/dist/main.js',
      { ...inClone, npm_lifecycle_event: 'start' },
      'npm run --silent cli --',
    ],
    ['installed', '/usr/local/bin/email-worker', {}, 'email-worker'],
    [
      'installed, by a script of another package',
      '/srv/shop/node_modules/.bin/email-worker',
      { npm_lifecycle_event: 'start', npm_package_name: 'shop' },
      'email-worker',
    ],
    [
      'by npx',
      '/home/a/.npm/_npx/1/node_modules/.bin/email-worker',
      { npm_lifecycle_event: 'npx' },
      'npx email-worker',
    ],
    ['by its file, below', '/srv/mail/dist/main.js', {}, 'node dist/main.js'],
    ['by its file, elsewhere', '/opt/mail/dist/main.js', {}, 'node /opt/mail/dist/main.js'],
    ['in no way that shows', undefined, {}, 'email-worker'],
  ])('started %s', (_title, file, npm, expected) => {
    expect(formatInvocation(file, npm, '/srv/mail')).toBe(expected);
  });
});

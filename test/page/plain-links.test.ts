/** Links in emails of plain text. */
import { describe, expect, it } from 'vitest';
import { linksIn } from '../../page/src/features/thread/plain-links.ts';

describe('a link in plain text', () => {
  it.each([
    ['Siehe https://shop.example/a?b=1#c.', 'https://shop.example/a?b=1#c', 'https://shop.example/a?b=1#c'],
    ['HTTPS://SHOP.EXAMPLE/A', 'HTTPS://SHOP.EXAMPLE/A', 'https://shop.example/A'],
    ['(www.shop.example)', 'www.shop.example', 'https://www.shop.example/'],
    ['(siehe https://shop.example/x_(y))', 'https://shop.example/x_(y)', 'https://shop.example/x_(y)'],
    ['https://müller.de/', 'https://müller.de/', 'https://xn--mller-kva.de/'],
    ['<https://shop.example/>, "http://a.test".', 'https://shop.example/', 'https://shop.example/'],
  ])('is found in %s', (text, shown, href) => {
    expect(linksIn(text)[0]).toMatchObject({ text: shown, href, host: null });
  });

  it.each([
    ['https://www.bank.example@evil.example/', 'evil.example'],
    ['www.bank.example@evil.example', 'evil.example'],
    ['https://b\u0430nk.example/', 'xn--bnk-6cd.example'],
    ['https://bank。example/', 'bank.example'],
    ['HTTPS://M\u0131CROSOFT.example/', 'xn--mcrosoft-tkb.example'],
    ['https://\u0430\u0440\u0440\u04cf\u0435.example/', 'xn--80ak6aa92e.example'],
    ['https://2130706433/', '127.0.0.1'],
  ])('has its true host beside it: %s', (text, host) => {
    expect(linksIn(text).map((link) => link.host)).toEqual([host]);
  });

  it.each(['www.', 'Awww.so', 'http://', 'https://[x', 'mail@www.example'])('is none: %s', (text) => {
    expect(linksIn(text)).toEqual([]);
  });
});

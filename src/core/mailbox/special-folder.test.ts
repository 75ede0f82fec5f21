import { describe, expect, it } from 'vitest';
import { specialFolderOf } from './special-folder.ts';

describe('the use of a folder', () => {
  it.each([
    [
      'sent',
      ['Sent', '.Sent', 'SENT ITEMS', 'Sent Messages', '.INBOX.Sent', '.Sent.2023', 'sent-mail', 'Sent Mail'],
    ],
    [
      'sent',
      ['Gesendet', 'Gesendete Elemente', 'Gesendete Objekte', 'Envoyés', 'Éléments envoyés', 'Inviati'],
    ],
    ['sent', ['Posta inviata', 'Enviados', 'Elementos enviados', 'Verzonden', 'Verzonden items', 'Wysłane']],
    ['sent', ['.Envoy&AOk-s', '.&BB4EQgQ,BEAEMAQyBDsENQQ9BD0ESwQ1-', 'E\u0301le\u0301ments envoye\u0301s']],
    [
      'sent',
      ['Sent.mbox', 'Sent-1', 'Sent.sbd', 'sent-mail-mar-2019', 'INBOX.Sent.mbox', '[Gmail].Sent Mail'],
    ],
    [
      'unsent',
      ['Drafts', '.Drafts', 'Entwürfe', '.Entw&APw-rfe', 'Brouillons', 'Templates', 'Unsent Messages'],
    ],
    ['junk', ['Junk', 'Spam', 'Junk-E-Mail', 'Junk E-mail', 'Spamverdacht', 'Courrier indésirable']],
    ['trash', ['Trash', 'Deleted Items', 'Papierkorb', 'Gel&APY-schte Elemente', '.Trash.Sent', 'Corbeille']],
    [
      null,
      [
        'INBOX',
        'Archive',
        'Kunden',
        'Sentinel',
        'Presented',
        '2023',
        '',
        '.',
        'Not sent yet',
        'a&-b',
        '&AOk',
      ],
    ],
  ] as const)('is %s', (use, names) => {
    for (const name of names) expect([name, specialFolderOf(name)]).toEqual([name, use]);
  });
});

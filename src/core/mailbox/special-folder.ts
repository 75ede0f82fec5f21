/**
 * Recognises the purpose of a mail folder by its name: the special uses of RFC 6154, as mail programs name them in many
 * languages. For files, where no server reports it.
 */

/** `unsent`: drafts, templates and the outbox: neither sent nor received. */
export type SpecialFolder = 'sent' | 'unsent' | 'junk' | 'trash';

/** Seen in practice: Outlook, Thunderbird, Apple Mail, Gmail, GMX, Roundcube, Horde, Pine. Between commas. */
const NAMES: Readonly<Record<SpecialFolder, string>> = {
  sent: `
    sent, sent items, sent messages, sent mail, sent emails, sent objects, sent elements, gesendet,
    gesendete, gesendete elemente, gesendete objekte, gesendete nachrichten, gesendete mails,
    gesendete emails, gesendete e mails, gesendete post, versendet, envoyé, envoyés, éléments envoyés,
    messages envoyés, objets envoyés, courrier envoyé, courriers envoyés, emails envoyés, inviata, inviati,
    posta inviata, messaggi inviati, elementi inviati, enviado, enviados, enviadas, elementos enviados,
    mensajes enviados, correo enviado, correos enviados, itens enviados, mensagens enviadas,
    e mails enviados, verzonden, verzonden items, verzonden objecten, verzonden berichten, verzonden mail,
    wysłane, elementy wysłane, wiadomości wysłane, odeslané, odeslaná pošta, odeslané zprávy, odoslané,
    odoslaná pošta, poslano, poslane stavke, poslana pošta, отправленные, отправленные письма, надіслані,
    изпратени, skickat, skickade, skickade objekt, sendt, sendte, sendt post, sendte elementer,
    sendte beskeder, lähetetyt, lähetetyt viestit, elküldött, elküldött elemek, elküldött üzenetek,
    trimise, elemente trimise, mesaje trimise, gönderilmiş, gönderilmiş öğeler, gönderilmiş postalar,
    gönderilen, gönderilenler, απεσταλμένα, saadetud, nosūtītie, išsiųsti, hantes, enviats, bidalitakoak,
    已发送, 已发送邮件, 已发邮件, 寄件備份, 送信済み, 送信済みメール, 送信済みトレイ, 送信済みアイテム, 보낸편지함, 보낸 편지함, נשלחו, البريد المرسل,
    العناصر المرسلة`,
  unsent: `
    draft, drafts, templates, outbox, unsent messages, unsent, entwurf, entwürfe, vorlagen, postausgang,
    brouillon, brouillons, modèles, boîte d'envoi, bozza, bozze, posta in uscita, in uscita, modelli,
    borrador, borradores, bandeja de salida, plantillas, rascunho, rascunhos, caixa de saída, concept,
    concepten, postvak uit, sjablonen, szkice, kopie robocze, wersje robocze, skrzynka nadawcza, koncepty,
    rozepsané, osnutki, nacrti, черновики, исходящие, чернетки, чернови, utkast, utkorg, kladde, kladder,
    udbakke, utboks, luonnokset, piszkozatok, ciorne, taslaklar, πρόχειρα, 草稿, 草稿箱, 下書き, 임시보관함, טיוטות`,
  junk: `
    junk, junk mail, junk email, junk e mail, spam, bulk, bulk mail, spamverdacht, spamverdächtig,
    unerwünscht, unerwünschte werbung, courrier indésirable, indésirable, indésirables, pourriel,
    posta indesiderata, indesiderata, correo no deseado, no deseado, correo basura, lixo eletrónico,
    lixo eletrônico, lixo electrónico, ongewenst, ongewenste e mail, ongewenste mail, wiadomości śmieci,
    niechciane, nevyžádaná pošta, nevyžiadaná pošta, спам, нежелательная почта, небажана пошта, skräppost,
    skräp, uønsket, uønsket mail, uønsket e mail, søppelpost, roskaposti, levélszemét, mesaje nedorite,
    önemsiz, önemsiz e posta, istenmeyen, ανεπιθύμητα, 垃圾邮件, 垃圾郵件, 迷惑メール, 스팸, 스팸편지함, 스팸함, דואר זבל`,
  trash: `
    trash, deleted, deleted items, deleted messages, deleted objects, papierkorb, gelöscht, gelöschte,
    gelöschte elemente, gelöschte objekte, gelöschte nachrichten, corbeille, éléments supprimés,
    messages supprimés, supprimés, cestino, posta eliminata, eliminata, elementi eliminati,
    messaggi eliminati, papelera, papelera de reciclaje, eliminados, elementos eliminados, lixo, lixeira,
    itens eliminados, itens excluídos, prullenbak, prullenmand, verwijderd, verwijderde items,
    verwijderde berichten, kosz, elementy usunięte, usunięte, koš, kôš, odstraněná pošta, odstránené,
    smeće, корзина, удаленные, удалённые, видалені, кошик, изтрити, кошче, papperskorg, papperskorgen,
    borttagna objekt, papirkurv, papirkurven, slettet, slettede elementer, slettet post, roskakori,
    poistetut, lomtár, törölt elemek, coș de gunoi, elemente șterse, çöp, çöp kutusu, silinmiş öğeler,
    κάδος απορριμμάτων, διαγραμμένα, 已删除, 已删除邮件, 废件箱, 垃圾桶, ごみ箱, ゴミ箱, 削除済みアイテム, 휴지통, 지운편지함, אשפה`,
};

const USES: ReadonlyMap<string, SpecialFolder> = new Map(
  (Object.keys(NAMES) as SpecialFolder[]).flatMap((use) =>
    NAMES[use].split(',').map((name): [string, SpecialFolder] => [normalise(name), use]),
  ),
);

/** Extensions of files and folders: mbox files, and Thunderbird's nested folders. */
const EXTENSION = /\.(?:mbox|mbx|mbs|sbd)$/i;

/**
 * The special use of a file or folder; null for none. The outermost name of `a.b` (Maildir++, exports) counts:
 * `.Trash.Sent` is trash. Names in modified UTF-7 (RFC 3501 §5.1.3), as in a Maildir, are decoded.
 */
export function specialFolderOf(name: string): SpecialFolder | null {
  const bare = decodeMailboxName(name.replace(EXTENSION, ''));
  const whole = USES.get(normalise(bare));
  if (whole !== undefined) return whole;
  for (const level of bare.split(/[./]/)) {
    const use = USES.get(normalise(level));
    if (use !== undefined) return use;
  }
  return null;
}

/** Thunderbird and Pine number or date the folders that they split: `Sent-1`, `sent-mail-mar-2019`. */
function normalise(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim()
    .replace(/(?: (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))?(?: \d{1,4})?$/, '');
}

/** RFC 3501 §5.1.3: UTF-16 in Base64 with `,` for `/`, between `&` and `-`. Text in any other form stays as it is. */
function decodeMailboxName(name: string): string {
  return name.replace(/&([A-Za-z0-9+,]*)-/g, (whole, encoded: string) => {
    if (encoded === '') return '&';
    const bytes = Buffer.from(encoded.replaceAll(',', '/'), 'base64');
    return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : whole;
  });
}

/**
 * Subjects of notices about mail that was not delivered, in the languages of common programs. Only the beginning of a
 * subject counts: parcels, orders and tickets could not be delivered either, and people answer notices.
 */

/** True if a program that writes this subject reports that mail was not delivered. */
export function isBounceSubject(subject: string): boolean {
  const start = subject.slice(0, MAX_START_CHARS).replace(/^(?:\s*(?:\[[^[\]]*\]|\*+[^*]{1,30}\*+))*\s*/, '');
  return NOTICE.test(start) || CJK_NOTICE.test(start);
}

const MAX_START_CHARS = 300;

/** Names for the undelivered item: not a parcel or an order. */
const MAIL = String.raw`(?:e-?)?(?:mails?|messages?|mail messages?)`;
const NACHRICHT = String.raw`(?:(?:die|ihre?|deine|eine) )?(?:folgende |gesendete )?(?:e-?mail-?)?(?:nachricht|mail|e-?mail)(?: an \S+)?`;

/** Input: at most 300 characters, MAX_START_CHARS. */
const NOTICE = new RegExp(
  `^(?:${[
    // English
    String.raw`undeliver(?:ed|able)(?=$|:| ?[;,.–-]| (?:${MAIL}|item|notice|notification|to|report))|non-?deliver(?:y|able|ed)(?=$|:| (?:report|notification|notice|receipt|${MAIL}))|ndn(?=:)|returned (?:${MAIL}|to sender)|return to sender|returning (?:${MAIL}|to sender)|returned mail`,
    String.raw`${MAIL} (?:delivery|system|transmission|transfer) (?:fail\w*|error|problem|status|report|subsystem|system|notification|warning|delay\w*|unsuccessful|was unsuccessful|has failed|not possible|incomplete|service)|${MAIL} delivery(?=$|:)|${MAIL} (?:failed|failure|undeliverable|returned|rejected|not delivered|bounced|delayed|(?:could|can|did|was|were) ?not (?:be |been )?(?:delivered|sent|get through))`,
    String.raw`(?:your |the )?${MAIL}(?: you sent| to \S+| from you| sent)? (?:could|can|was|were|has|have) ?(?:not|n't) (?:yet )?(?:be(?:en)? )?(?:delivered|sent|accepted)|(?:your )?${MAIL} (?:has been|was|is) (?:returned|rejected|delayed|undeliverable|refused|blocked)|automatically rejected ${MAIL}|rejected ${MAIL}`,
    String.raw`(?:permanent |temporary |final |partial )?delivery (?:status notification|status|failure|failed|has failed|error|problem|report|notification|unsuccessful|delayed|delay|warning|incomplete|not possible|attempt failed|status report)(?=$|\s*[:;,.!(\[–-]| (?:notice|notification|report|${MAIL}|returned)\b)|deliver(?:y|ed) of (?:your |the )?(?:${MAIL})|deliver\w* has failed to`,
    String.raw`fail(?:ure|ed)(?:[ -]to)?[ -](?:notice|deliver\w*|mail|message)|failure notice|mail failure|mailer[ -]daemon|postmaster notify|notification: (?:inbound|outbound) mail failure|(?:could|can) ?not (?:deliver|send) (?:your |the )?${MAIL}|unable to deliver (?:your |the )?${MAIL}|problems? delivering (?:your |the )?${MAIL}|there was an error sending your mail|error (?:sending|delivering) (?:your )?${MAIL}|user unknown|unknown (?:user|recipient)|recipient unknown|warning: (?:${MAIL}|could not send)|warning-+could not|delayed ${MAIL}|considered unsolicited bulk|(?:banned contents|virus) in mail from you|permanent error|bounced? (?:${MAIL}|notification)`,
    // German
    String.raw`unzustellbar\w*|nicht zustellbar\w*|zustell(?:fehler|bericht|status|problem|hinweis)\w*|zustellungs(?:fehler|bericht|status|problem)\w*|(?:e-?mail-?)?zustellung (?:fehlgeschlagen|gescheitert|(?:ist )?nicht (?:möglich|erfolgt|erfolgreich)|verzögert\w*)(?=$|\s*[:;,.!(–-]| (?:der|ihrer) (?:e-?mail|nachricht))|fehler bei der (?:e-?mail-?)?zustellung|${NACHRICHT} (?:konnte|kann|wurde|ist|war) (?:leider )?(?:noch )?(?:nicht|un)[ -]?(?:\S+ ){0,4}?(?:zugestellt|zustellbar|übermittelt|ausgeliefert|versendet)|${NACHRICHT} (?:nicht zugestellt|unzustellbar|abgelehnt|zurückgewiesen)|nicht zugestellt(?=$|:)|rückläufer|benachrichtigung (?:zum|über den) (?:zustell|übermittlungs)\w*`,
    // French
    String.raw`non[ -]remis\w*|non[ -]distribu\w*|non[ -]délivr\w*|(?:votre |le )?(?:message|courriel|mail|e-mail) (?:n'a|n’a|ne peut|non)\b.{0,30}?(?:remis|distribué|délivré|envoyé)|échec (?:de |d'|d’)?(?:la )?(?:remise|distribution|livraison|transmission|l'envoi|l’envoi)|(?:notification|rapport) (?:d'état|d’état|de (?:non-?)?(?:remise|distribution))|retour (?:de |à l'|du )?(?:courrier|courriel|mail|message|expéditeur)|(?:courrier|message) non`,
    // Spanish, Portuguese, Italian
    String.raw`no se (?:ha |pudo |puede |pudieron )?(?:podido )?(?:entreg\w*|enviar)|no entreg\w*|no se entreg\w*|(?:mensaje|correo)(?: electrónico)? (?:no |devuelto|rechazado)|(?:su |el )(?:mensaje|correo)(?: electrónico)? no|(?:error|fallo|falla|fallido) (?:en|de|al) (?:la )?entreg\w*|notificaci[oó]n (?:del? )?(?:estado|error|fallo)|(?:correo|mensaje) no entregado|devoluci[oó]n de correo`,
    String.raw`não (?:entregue|foi possível entregar|é possível entregar)|(?:a sua |sua |a )?mensagem (?:não|devolvida|rejeitada)|falha (?:na|de|no) (?:entrega|envio)|e-?mail (?:não entregue|devolvido)|notificação (?:de|do) (?:estado|status|falha)|mancat[oa] (?:recapito|consegna)|messaggio (?:di posta )?(?:non|respinto)|impossibile (?:consegnare|recapitare|inviare)|non (?:recapitat\w*|recapitabile|consegnat\w*|consegnabile)|notifica (?:di )?(?:stato|mancat\w*)|avviso di mancat\w* (?:consegna|recapito)|errore di consegna`,
    // Dutch, Danish, Norwegian, Swedish, Finnish
    String.raw`onbestelbaar\w*|niet (?:bezorgd|afgeleverd|bestelbaar|verzonden)|(?:uw |het )?(?:bericht|e-?mail) (?:kon |kan |is |werd )?niet|bezorging (?:mislukt|is mislukt)|aflevering mislukt|kan (?:inte|ikke) levereres?|kan inte levereras|(?:det går inte att leverera)|ole?vererbar\w*|ikke[ -]leveret|ikke levert|kunne ikke leveres|kan ikke leveres|uleveret|leverans misslyckades|leveringsfejl|levering mislyk\w*|ei voi toimittaa|toimitus epäonnistui|ei toimitettu|toimittamaton|ei voitu toimittaa`,
    // Polish, Czech, Slovak, Hungarian, Romanian, Turkish
    String.raw`niedostarczon\w*|nie (?:dostarczono|można dostarczyć)|niedoręcz\w*|zwrot (?:poczty|wiadomości)|nedoruč\w*|zpráva nebyla doručena|nedoručiteľn\w*|k[ée]zbes[íi]thetetlen|nem k[ée]zbes[íi]thető|sikertelen k[ée]zbes[íi]tés|nelivra\w*|mesaj nelivrat|teslim edilemedi|iletilemedi|iletilemeyen`,
    // Russian, Ukrainian, Bulgarian, Greek
    String.raw`недоставленн\w*|не ?доставлен\w*|недоставк\w*|не удалось доставить|не удается доставить|невозможно доставить|(?:ваше )?(?:письмо|сообщение) не (?:было )?доставлено|возврат (?:письма|почты)|не доставлено|недоставен\w*|αδυναμία παράδοσης|δεν παραδόθηκε|μη παραδοτέο`,
  ].join('|')})(?![\\p{L}\\p{N}])`,
  'iu',
);

/** Chinese, Japanese and Korean do not separate words. */
const CJK_NOTICE =
  /^(?:メールエラー|メール(?:が|を)?(?:配信|送信)(?:でき|不能|エラー|失敗)|(?:メッセージ(?:を|が))?配信(?:不能|できません|エラー|失敗|状況)|配達(?:不能|できません)|未配信|エラーメール|送信(?:エラー|できません)|退信|系统退信|无法(?:投递|送达|传递|傳遞)|無法(?:投遞|傳遞|送達)|未(?:送达|能送达|傳遞|传递)|邮件(?:未|无法|投递失败|被退回)|郵件(?:無法|退回|傳遞)|배달(?:되지|할 수|실패)|전송 ?(?:실패|오류)|반송|메일 (?:전송|배달) ?(?:실패|오류))/u;

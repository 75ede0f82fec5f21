/**
 * Judges the address by a failure: by enhanced status codes of RFC 3463 and the registry of RFC 5248, and by the words
 * of servers that use the codes loosely, in the languages of large providers. An address counts as bad only on evidence:
 * a wrong `hard` costs a customer, a wrong `soft` one more email.
 */

/**
 * - `hard`: the address takes no mail and will not; sending again only harms our name.
 * - `blocked`: refused because of the message, its sender or a policy; the address may be good.
 * - `soft`: anything else, such as a full mailbox or unreachable servers.
 */
export const BOUNCE_SEVERITIES = ['hard', 'soft', 'blocked'] as const;
export type BounceSeverity = (typeof BOUNCE_SEVERITIES)[number];

/**
 * Severity by status, the most specific first: `class.subject.detail`, then `class.subject`, then `class`. A status
 * that is not listed says nothing on its own. Words take precedence, see severityOf.
 */
const BY_STATUS: Readonly<Record<string, BounceSeverity>> = {
  '5.1.1': 'hard', // bad destination mailbox address
  '5.1.2': 'hard', // bad destination system address: no such domain
  '5.1.3': 'hard', // bad syntax, as the last server sees it
  '5.1.4': 'hard', // ambiguous: no single mailbox gets it
  '5.1.6': 'hard', // moved, no forwarding address
  '5.1.10': 'hard', // null MX (RFC 7505); Microsoft 365: recipient not found
  '5.2.1': 'hard', // mailbox disabled, for ever (Gmail, Yahoo); what is for a while is 4.2.1
  '5.2.2': 'soft', // mailbox full: most are emptied again
  '5.2.3': 'blocked', // message too long for the mailbox
  '5.3.4': 'blocked', // message too big for the system
  '5.4.4': 'hard', // Postfix: no such host or domain; others: no route, see TRANSPORT
  '5.4.310': 'hard', // Microsoft 365: the domain does not exist
  '5.6': 'blocked', // the contents can't be taken or converted
  '5.7': 'blocked', // security or policy, RFC 7372, 7505 and others
  '5.7.17': 'hard', // the mailbox changed hands (RFC 7293)
  '5.7.18': 'hard', // so did the domain
  '4': 'soft',
};

/** A full mailbox. Takes precedence over everything, since many servers send 5.1.1 or 5.7.1 with it. */
const MAILBOX_FULL = words(
  String.raw`(?:mail ?box|inbox|account|user|recipient|postfach|disk|storage|e-?mail)\S*(?: \S+){0,6} (?:is |are |ist |was )?(?:full|exceeded|over[ -]?quota|voll|überfüllt|pleine?|llen[ao]|pien[ao]|переполнен)`,
  String.raw`(?:quota|maximum storage|storage limit|mailbox (?:size )?limit|disk space)\S*(?: \S+){0,8} (?:exceed\w*|full|reached|überschritten|dépassé\w*|excedid\w*|superata|превышен\w*)`,
  String.raw`(?:exceed\w*|over)(?: \S+){0,4} (?:quota|storage|mailbox (?:size )?limit|disk space)`,
  String.raw`over ?quota|overquota|out of (?:disk |storage )?space|not enough (?:disk |storage )?space|insufficient (?:system |disk )?(?:storage|space)|no space left`,
  String.raw`full mailbox|mailbox exceeds|mailfolder is full|mailbox ?full|mailbox full|bo[iî]te (?:\S+ ){0,3}(?:pleine|saturée)|buz[oó]n (?:\S+ ){0,3}lleno|casella (?:\S+ ){0,3}piena`,
  String.raw`zu ?viele (?:e-?)?(?:mails|nachrichten) auf dem server|too many (?:e-?)?(?:mails|messages) (?:in|on|for) (?:the |this |your )?(?:mail ?box|server|user|account)|speicherplatz(?: \S+){0,4} (?:erschöpft|überschritten|voll)`,
  '容量(?:を|が)?(?:超え|オーバー|不足)|メールボックスが一杯|邮箱(?:空间)?已?满|信箱(?:空間)?已?滿|ящик переполнен',
);

/** Words of a server that knows that the address takes no mail, under any permanent code. */
const NO_SUCH_ADDRESS = words(
  String.raw`(?:user|recipient|mail ?box|address|account|addressee|e-?mail(?: address)?|alias|person|local part|inbox|customer|member)s?\b(?:[^.;]|\.(?=\S)){0,70}?\b(?:unknown|not (?:be )?found|(?:does ?n[o']t|doesn’t|do not|did not) (?:seem to )?exist|no longer (?:exists?|available|valid|active|in use|with us)|(?:has been |is |was |been )?(?:disabled|deactivated|suspended|discontinued|closed|deleted|terminated|inactive|expired)|invalid|not (?:a )?valid|isn't valid|not listed|not exist|not (?:a )?known|not recognized|not recognised|undefined|non-?existent|is not active|has moved|unrouteable|not our customer|could ?n[o']t be found|wasn't found|is not (?:a|one of our) (?:customers?|members?)|not local|has no mailbox|unavailable or does)`,
  String.raw`(?:no such|unknown|invalid|bad(?: destination)?|non-?existent|nonexistent|inactive|disabled|undeliverable|incorrect|not a valid|unrouteable|no valid|illegal|mal-?formed|wrong|obsolete|suspended|expired) (?:local |e-?mail |virtual |destination |final |smtp |delivery )*(?:user(?:id)?|recipients?|mailbox|address(?:ee)?|account|person|host|domain|alias|local[ -]?part|rcpt)`,
  String.raw`no (?:mail ?box|account|user|one|such person)(?: \S+){0,3} (?:here|by that name|with that name|with that address)|no mail ?box (?:found|available|exists?)|unable to find (?:user|mailbox)|user not known|not a known user|no user found|doesn't have (?:an? )?(?:\S+ )?(?:account|mailbox)|we don't (?:handle|have) (?:\S+ )?(?:mail|user)|this (?:user|account|address) (?:doesn't|does not) (?:have|handle|accept)`,
  String.raw`RecipNotFound|RecipientNotFound|ADR_NOT_FOUND|ResolverAddress\w*|user ?unknown|unknown ?user|no such (?:user|recipient|person|mailbox|domain)|mailbox not found|5\.1\.1 unknown|recipient unknown|mailbox unavailable|Recipient address rejected: Access denied|account (?:that you tried to reach|you tried to reach) (?:is|does)`,
  String.raw`(?:host|domain|hostname|server)(?: \S+){0,6} (?:not found|unknown|does ?n[o']t exist|could not be found|wasn't found|couldn't be found|non-?existent)|unable to find|(?:no such|unknown|bad|invalid) (?:host|domain)|host ?unknown|domain (?:name )?not found|host or domain name not found|null ?MX|does not accept mail \(nullMX\)|domain of recipient(?: \S+){0,3} (?:not|does)|no MX (?:or \S+ )?record|all relevant MX records point to non-existent|NXDOMAIN|Name or service not known|lowest numbered MX record points to local|(?:domain|host) does not accept mail|indicated no SMTP service`,
  // German, French, northern and eastern Europe, Spanish, Portuguese, Italian, Dutch, Polish, Russian, Japanese, Chinese
  String.raw`(?:Empfänger|Adresse|Benutzer|Postfach|Konto|E-Mail-Adresse)\S*(?:[^.;]|\.(?=\S)){0,60}?(?:unbekannt|existiert nicht|nicht (?:gefunden|vorhanden|bekannt|gültig)|ungültig|deaktiviert|gesperrt|gelöscht)|unbekannte[rs]? (?:Empfänger|Benutzer|Adresse)|Domain\S* (?:existiert nicht|(?:ist )?unbekannt)|kein(?:e|en)? (?:Postfach|Benutzer|Empfänger|Konto|Mailbox)(?: \S+){0,5} (?:vorhanden|gefunden|Namen|bekannt)`,
  String.raw`(?:destinataire|adresse|compte|utilisateur|bo[iî]te)\S*(?:[^.;]|\.(?=\S)){0,60}?(?:inconnue?|introuvable|n'existe (?:pas|plus)|invalide|désactivée?|inexistante?)|domaine (?:inexistant|inconnu|introuvable)|aucune? (?:boîte aux lettres|utilisateur|destinataire)`,
  String.raw`onbekende (?:ontvanger|gebruiker)|okänd (?:mottagare|användare)|(?:mottagaren|användaren|adressen) finns inte|ukendt (?:modtager|bruger)|ukjent (?:mottaker|bruker)|tuntematon (?:vastaanottaja|käyttäjä)|neznámý (?:příjemce|uživatel)|ismeretlen (?:címzett|felhasználó)|bilinmeyen (?:kullanıcı|alıcı)|kullanıcı bulunamadı`,
  String.raw`(?:destinatario|dirección|usuario|cuenta|buzón|endereço|usuário|utilizador|indirizzo|utente|casella)\S*(?:[^.;]|\.(?=\S)){0,60}?(?:desconocid[oa]|no existe|no encontrad[oa]|inválid[oa]|não existe|desconhecid[oa]|não encontrad[oa]|inesistente|sconosciut[oa]|non esiste|non trovat[oa]|inexistente)`,
  String.raw`(?:gebruiker|ontvanger|adres|postvak)\S*(?:[^.;]|\.(?=\S)){0,60}?(?:onbekend|bestaat niet|niet gevonden|ongeldig)|(?:użytkownik|adresat|adres|konto)\S*(?:[^.;]|\.(?=\S)){0,60}?(?:nieznany|nie istnieje|nie znaleziono)|нет такого (?:пользователя|адреса|ящика)|(?:пользователь|адрес|ящик)(?:[^.;]|\.(?=\S)){0,60}?(?:не найден|не существует|неизвестен|отключ|заблокирован)|(?:ユーザー?|宛先|アドレス)[^。]{0,40}?(?:不明|存在しません|見つかりません)|(?:用户|收件人|地址|邮箱)[^。]{0,20}?(?:不存在|不正确|被禁)`,
);

/** DNS says for certain that the domain does not exist, or takes no mail (RFC 7505). */
const NO_SUCH_DOMAIN = words(
  String.raw`NXDOMAIN|null ?MX|does not accept mail \(nullMX\)|no such domain|(?:recipient |destination )?domain(?: name)?(?: \S+)? does ?n[o']t exist|all relevant MX records point to non-existent(?: hosts?)?`,
);

/** The name that does not exist may be one of ours. */
const ABOUT_US = words(
  String.raw`ptr|reverse|rdns|helo|ehlo|client|senders?|spf|dkim|dmarc|mail from|return path|try again|your (?:ip|domain|host|server)`,
);

/** A text with one of these is about us, whatever else it calls unknown. */
const SENDER_REFUSED = words(
  String.raw`domain of sender|sender(?:'s)? (?:address |domain )?(?:rejected|denied|blocked|does not|unknown|verify)|(?:sending|your|client|source) (?:ip|host|server|domain)|banned|open relay|my name was rejected|spamhaus|spamcop|after MAIL FROM|in reply to (?:EHLO|HELO|MAIL FROM)`,
  String.raw`(?:host|domain|hostname) not found,? (?:please )?try again`,
);

/** Words that refuse the message or us, or cite a rule, under any code. */
const REFUSED = words(
  String.raw`spam(?:mer|ming|my|haus|cop)?|unsolicited|junk|bulk (?:e-?)?mail|block(?:ed|ing)?(?:[ -]?list\w*)?|black(?:[ -]?list\w*)?|deny ?list|denied by|rbl|dnsbl|surbl|reputation|policy|policies|prohibited|abus(?:e|ive)|phish\w*|virus\w*|malware|malicious|infected|suspicious|poor sender|not (?:allowed|authori[sz]ed|permitted|accepted) (?:to send|to relay|from|because)|content (?:rejected|filter\w*|denied)|filter(?:ed|ing)?|rejected for|banned|attachments?|executable|too (?:large|big)|(?:message|header|line|content)\S* (?:is |are )?too long|size (?:limit|exceed\w*)|message size|maximum (?:message )?size|exceeds? (?:the )?(?:maximum |fixed |allowed )?(?:message )?size`,
  String.raw`dmarc|spf|dkim|unauthenticated|authentication|auth(?:enticat|ori[sz])\w*|ptr|reverse (?:dns|lookup|host\w*)|helo|ehlo|sender (?:address )?(?:rejected|denied|verify|verification|blocked|unknown|domain|is not)|bad sender|invalid sender|sender id|return path|mail from|relay\w*|relaying|not permitted|permission|restricted|access denied|access not allowed|refused to (?:accept|talk)|administrative\w*|administrator|security|encryption|tls|rate|throttl\w*|too many|connection (?:limit|rate)|greylist\w*|gr[ae]y-?list\w*|complian\w*|rfc ?\d*|loop\w*|duplicate|unsubscribe|only (?:accepts?|allows?)|members? only|moderat\w*|not in (?:the )?(?:allow|white)\w*|closed (?:list|group)|restriction\w*|transaction failed|message (?:rejected|refused|content)|rejected due`,
  String.raw`abgelehnt|verweigert|Richtlinie\w*|refusé\w*|rechazad\w*|rejeitad\w*|rifiutat\w*|geweigerd|спам\w*|отклонен\w*|拒否|迷惑メール|垃圾邮件|拒绝`,
);

/** A refusal without a stated reason. */
const REFUSED_SOMEHOW = words(
  String.raw`reject(?:ed|s)?|refused|not (?:allowed|accepted)|denied|violation|invalid ip|rejet\w*|frequency`,
);

/** Failures of connections and servers, which say nothing about the address. */
const TRANSPORT = words(
  String.raw`timed? ?out|connection (?:refused|reset|lost|dropped|closed|died|failed)|no route|unreachable|network|could not connect|couldn't connect|couldn't establish|unable to connect|can(?:not|'t) (?:connect|resolve)|temporar\w*|try again|retry|later|resources|too busy|retention time|expired|deferred|queue(?:d)? (?:too long|lifetime)|still (?:undelivered|in)|loops? back|too many hops|hop count|mail ?loop|dns (?:error|failure)|name server|server failure|system (?:error|failure|problem)|internal (?:server )?error|configuration|local (?:error|problem)|I/O|lost connection`,
);

/** Seen in practice: Cisco writes the meaning of a status before the server's words: `5.1.0 - Unknown address error 550-'…'`. */
const LABEL = /^\d\.\d{1,3}\.\d{1,3} - [a-z ]{3,60} (?=\d{3}[ -])/i;

/** The severity of a failure. `said` is the servers' words, on one line. */
export function severityOf(status: string | null, said: string): BounceSeverity {
  const text = said.replace(LABEL, '').replace(/[’‘`´]/g, "'");
  const byCode = status === null ? null : severityByStatus(status);
  const isRefused = REFUSED.test(text);
  const isTransport = TRANSPORT.test(text);
  if (MAILBOX_FULL.test(text)) return 'soft';
  if (status?.startsWith('4') === true) {
    // Seen in practice: Gmail and others give up with 4.0.0 on a domain that does not exist and never will.
    if (NO_SUCH_DOMAIN.test(text) && !SENDER_REFUSED.test(text) && !ABOUT_US.test(text)) return 'hard';
    return isRefused && !isTransport ? 'blocked' : (byCode ?? 'soft');
  }
  if (status !== null && SENDER_STATUS.test(status)) return 'blocked';
  if (SENDER_REFUSED.test(text)) return isTransport ? 'soft' : 'blocked';
  if (NO_SUCH_ADDRESS.test(text)) return 'hard';
  if (byCode === 'hard') {
    // Seen in practice: 5.1.1 and 5.2.1 for anything that a filter rejects.
    if (isRefused) return 'blocked';
    return status === '5.4.4' && isTransport ? 'soft' : 'hard';
  }
  if (byCode !== null) return byCode;
  return !isTransport && (isRefused || REFUSED_SOMEHOW.test(text)) ? 'blocked' : 'soft';
}

/**
 * About us, even when the text also calls a recipient unknown: bad sender address (5.1.7, 5.1.8), several From addresses and too
 * many recipients a day (5.1.20, 5.1.90, Microsoft 365), banned IP (5.7.6xx, Microsoft).
 */
const SENDER_STATUS = /^5\.1\.(?:7|8|20|90)$|^5\.7\.6\d\d$/;

function severityByStatus(status: string): BounceSeverity | null {
  const [klass, subject] = status.split('.');
  return BY_STATUS[status] ?? BY_STATUS[`${klass}.${subject}`] ?? BY_STATUS[klass ?? ''] ?? null;
}

/** Any of the alternatives, not within a longer word. */
function words(...alternatives: readonly string[]): RegExp {
  // Input: at most 1,000 characters, as cleanReplyText leaves of a reply.
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${alternatives.join('|')})(?![\\p{L}\\p{N}])`, 'iu');
}

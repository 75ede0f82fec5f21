/**
 * Lines that programs put below a text: `Sent from my iPhone`. Each is known as a whole: a sentence that begins like one,
 * such as `Gesendet mit DHL am 12.05.`, is text. A device or program that is not listed stays, which is only a nuisance.
 */

/** Words of models: `iPhone 12 Pro`, `Galaxy S24 Ultra 5G`. */
const MODEL_WORD =
  '\\w{0,4}\\d\\w{0,4}\\+?|pro|max|plus|mini|air|se|xr|xs?|ultra|lite|note|edge|fold|flip|neo';
const MODEL = `(?:[ -](?:${MODEL_WORD}))`;

const DEVICES = [
  `(?:apple )?(?:iphone|ipad|ipod(?: touch)?)${MODEL}{0,4}`,
  'apple watch',
  'mac(?:book)?(?: (?:pro|air))?',
  '(?:verizon wireless |t-mobile |at&t |vodafone )?blackberry(?:®)?(?:[ -](?:\\d{1,5}|work|wireless|smartphone|handheld|device|gerät)){0,2}',
  'android(?:[ -](?:phone|smartphone|device|tablet|mobile|gerät|handy|mobiltelefon|telefon|smartphone))?',
  'windows(?: \\d{1,2})? (?:phone|pc|tablet|device)',
  `(?:samsung )?galaxy(?:[ -](?:smartphone|phone|device|tablet|gerät|tab|${MODEL_WORD})){0,4}`,
  `(?:samsung|huawei|honor|xiaomi|redmi|oneplus|oppo|nokia|sony|xperia|htc|lg|motorola|moto|google pixel|pixel|fairphone|wiko|alcatel)(?:[ -](?:mobile|android|phone|smartphone|handset|device|tablet|gerät|handy|p|g|note|redmi|xperia|${MODEL_WORD})){0,4}`,
  '(?:mobile|cell|smart|handheld)[ -]?(?:phone|device)?|phone|tablet|smartphone|handy|mobiltelefon|mobilgerät|mobile|móvil|telefon|téléphone|portable|telefoon|mobiel|telefono|cellulare|celular|mobil|telefonu',
];

const FOR =
  '(?:for|für|on|auf|pour|sur|para|per|voor|op|til|på|för|till|dla|для|i) (?:ios|android|mac|macos|windows(?: 1[01])?|iphone|ipad|desktop)';

const PROGRAMS = [
  `(?:microsoft )?outlook(?: mobile)?(?: ${FOR})?`,
  `(?:the )?(?:all[ -]new )?(?:yahoo|aol)(?: mobile)?[ -]?mail(?: ${FOR})?(?: app)?`,
  `mail ${FOR}`,
  `(?:mail|windows mail|thunderbird|mozilla thunderbird|k-9 mail|airmail|mailbox|spark|sparrow|canary mail|edison mail|blue ?mail|typeapp|mailspring|postbox|superhuman|fairemail|aqua mail|em client|mailbird)(?: ${FOR})?`,
  `proton ?mail(?: (?:mobile|secure email|bridge))?(?: ${FOR})?`,
  `(?:tutanota|tuta)(?: ${FOR})?`,
  `(?:gmx|web\\.de|freenet|t-online|telekom|ionos|1&1|posteo)(?: mail)?(?:[ -]app)?(?: ${FOR})?`,
  '(?:samsung|gmail|zoho|yandex)(?:[ .-](?:email|mail|mobile))?(?: app)?',
];

const THING = `(?:${[...DEVICES, ...PROGRAMS].join('|')})`;

/** A link of the program behind its name. */
const LINK = '(?:\\s?[<(]?https?:\\/\\/[^\\s<>()]{1,300}[>)]?)?';

/** What people let their phone add. */
const EXCUSE =
  '(?:\\s?[.,;–-]?\\s{1,2}(?:please |bitte )?(?:excuse|pardon|forgive|ignore|entschuldigen sie)(?: (?:any|the|my|all|eventuelle|etwaige))?(?: (?:brevity|typos?|typoze|errors?|mistakes?|spelling|autocorrect|terseness|tippfehler|fehler|kürze|and|or|und)){1,4})?';

const FORMS = [
  `sent (?:from|via|with|using|by) (?:my |the |a )?${THING}`,
  `sent from \\[?mail\\]?${LINK} ${FOR}`,
  `(?:get|download|holen sie sich|laden sie|obtenez|téléchargez|obtener|descargar|obter|scarica|ottieni) \\[?outlook ${FOR}\\]?`,
  `outlook ${FOR}(?: (?:beziehen|herunterladen|downloaden|downloaden))?`,
  `von (?:meinem(?:\\/meiner)?|meiner|dem|der) ${THING} (?:aus )?(?:gesendet|gesandt|verschickt)`,
  `diese (?:nachricht|e-mail|mail) wurde von (?:meinem|meiner) ${THING}(?: mit ${THING})? (?:gesendet|verschickt)`,
  `gesendet (?:von|mit|über|aus|via)(?: (?:meinem|meiner|der|dem|einem))? (?:mobilen? )?${THING}`,
  `envoyé (?:de|depuis|avec|via|à partir (?:de|d['’]))(?: (?:mon|ma|l['’]application|un|une))? ?${THING}`,
  `(?:enviado|enviada) (?:desde|do|da|de|con|com|a partir de|a través de)(?: (?:mi|meu|minha|un|o|el))? ${THING}`,
  `inviato (?:da|dal|con|tramite)(?: (?:mio|il mio|un))? ${THING}`,
  `(?:verzonden|verstuurd) (?:vanaf|vanuit|met|via|van)(?: (?:mijn|een))? ${THING}`,
  `skickat (?:från|med|via)(?: min)? ${THING}`,
  `sendt (?:fra|med|via)(?: min)? ${THING}`,
  `wysłan[eoya] (?:z|za pomocą)(?: (?:mojego|aplikacji|urządzenia))? ${THING}`,
  `отправлено (?:с|из|от)(?: (?:моего|мобильного|устройства))? ${THING}`,
  '從我的 (?:iphone|ipad) 傳送|从我的 ?(?:iphone|ipad) ?发送|iphoneから送信|나의 iphone에서 보냄',
  `odesláno z(?: (?:mého|aplikace))? ${THING}`,
  `odoslané z(?: (?:môjho))? ${THING}`,
  `trimis de pe(?: (?:telefonul meu|dispozitivul meu))? ?${THING}?`,
];

/** Input: at most 500 characters, MAX_MARKER_CHARS. */
export const PROGRAM_SIGNATURE = new RegExp(
  `^\\s*(?:[*_]|[(<]{1,2})?(?:${FORMS.join('|')})${LINK}${EXCUSE}\\s?[.!]?(?:[*_]|[)>]{1,2})?\\s*$`,
  'iu',
);

/**
 * Answers that people write into what they quote, in programs that mark no line of it. They announce them above, `siehe unten in
 * rot`, or begin them with a mark.
 */
import { sharesName } from './signature-lines.ts';

/** Input: any text; each word is looked at once. */
export const ANSWER_BELOW = new RegExp(
  `(?<!\\p{L})(?:${[
    'siehe (?:weiter )?unten|s\\. ?u\\.|(?:weiter|nach)?unten(?:stehend)?|inline|in[- ]line|dazwischen|darunter|drunter|dahinter|im (?:text|verlauf|zitat|original)',
    '(?:in|mit) (?:hell|dunkel)?(?:rot|blau|grün|lila|violett|orange|gelb|grau|fett|kursiv|farbe|großbuchstaben|(?:roter|blauer|grüner|fetter|kursiver|anderer|farbiger) (?:schrift|farbe))',
    '(?:rot|blau|grün|gelb|lila|orange|farbig|farblich|fett|kursiv) (?:markiert|geschrieben|eingefügt|ergänzt|hinterlegt|gekennzeichnet|hervorgehoben|eingetragen|dazu)',
    '(?:in|zwischen|bei|hinter|unter) (?:ihre[nrm]?|deine[nrm]?|eure[nrm]?|den|die|der|dem) (?:zeilen|e-?mail|mail|nachricht|fragen|punkten)',
    'below|in (?:red|blue|green|purple|orange|yellow|bold|italics?|caps|colou?r|another colou?r)|interspersed|between (?:the|your) lines|within your|in your (?:text|email|e-mail|mail|message)|next to your|highlighted',
    'ci-dessous|plus bas|en (?:rouge|bleu|vert|violet|gras|italique|couleur|majuscules)|dans (?:le|votre|ton) (?:texte|corps|mail|message|courriel)',
    'abajo|debajo|a continuación|en (?:rojo|azul|verde|negrita|cursiva|color|mayúsculas)|entre líneas|en (?:el|su|tu) (?:texto|correo|mensaje)',
    'sotto|di seguito|in (?:rosso|blu|verde|grassetto|corsivo|colore|maiuscolo)|nel(?:la)? (?:testo|tua|sua) ?(?:mail|e-mail|messaggio)?',
  ].join('|')})(?!\\p{L})`,
  'iu',
);

/** `--> Ja`, `>>> Ja`, `Antwort: Ja`. Input: at most 500 characters, MAX_MARKER_CHARS. */
const ANSWER_MARK =
  /^\s*(?:-{1,4}>|={1,4}>|>{3,5}\s|[→➔➜»⇒])\s*\p{L}|^\s*[*_]{0,2}(?:antwort|answer|réponse|respuesta|risposta|kommentar|comment|anmerkung)\s?[:：]/iu;

/** True if a line of a quote is an answer: Outlook marks those of a person as `[Eva Beispiel]`. */
export function isMarkedAnswer(line: string, sender: string | null): boolean {
  if (ANSWER_MARK.test(line)) return true;
  const [, name] = /^\s*\[(\p{L}[\p{L} ,.-]{1,60})\]\s*\S/u.exec(line) ?? [];
  return name !== undefined && sender !== null && sharesName(name, sender);
}

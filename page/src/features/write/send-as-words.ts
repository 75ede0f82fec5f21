/** The texts about senders and signatures, in the reader's language. */
import { useWords } from '../../i18n/index.tsx';
import { sendAsDe } from '../../i18n/send-as-de.ts';
import { sendAsEn, type SendAsMessages } from '../../i18n/send-as-en.ts';

export function useSendAsWords() {
  const words = useWords();
  const sendAs: SendAsMessages = words.language === 'de' ? sendAsDe : sendAsEn;
  return { ...words, sendAs };
}

/** The texts of these views, in the reader's language. */
import { useWords } from '../../i18n/index.tsx';
import { operateDe } from '../../i18n/operate-de.ts';
import { operateEn, type OperateMessages } from '../../i18n/operate-en.ts';

export function useOperateWords() {
  const words = useWords();
  const operate: OperateMessages = words.language === 'de' ? operateDe : operateEn;
  return { ...words, operate };
}

/** The texts of the dialogs about accounts, in the reader's language. */
import { accountsDe } from '../../../i18n/accounts-de.ts';
import { accountsEn, type AccountMessages } from '../../../i18n/accounts-en.ts';
import { useOperateWords } from '../operate-words.ts';

export function useAccountWords() {
  const words = useOperateWords();
  const accounts: AccountMessages = words.language === 'de' ? accountsDe : accountsEn;
  return { ...words, accounts };
}

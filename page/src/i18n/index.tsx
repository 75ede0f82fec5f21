/** The language of the page, taken from the browser. */
import { createContext, use, type ReactNode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { de } from './de.ts';
import { en, type Messages } from './en.ts';
import { chooseLanguage, createFormats, type Formats, type Language } from './format.ts';

interface Words {
  readonly language: Language;
  readonly text: Messages;
  readonly format: Formats;
}

function readBrowser(): Words & { readonly locale: string } {
  const language = chooseLanguage(navigator.languages);
  const locale = navigator.languages.find((tag) => tag.toLowerCase().startsWith(language)) ?? language;
  return { language, locale, text: language === 'de' ? de : en, format: createFormats(locale) };
}

const browser = readBrowser();
const WordsContext = createContext<Words>(browser);

export function Language({ children }: { readonly children: ReactNode }) {
  return (
    <I18nProvider locale={browser.locale}>
      <WordsContext value={browser}>{children}</WordsContext>
    </I18nProvider>
  );
}

/** The texts and formats of the reader's language. */
export const useWords = (): Words => use(WordsContext);

/** Sets the language of the document itself, before anything is shown. */
export function nameLanguage(): void {
  document.documentElement.lang = browser.locale;
}

/** Remote images of received mail. */
import { readWord } from './config-values.ts';
import { variable } from './variable.ts';

export const IMAGE_VARIABLES = {
  hasImageProxy: variable('IMAGE_PROXY', {
    parse: (value, name) => readWord(name, value ?? 'on', ['on', 'off']) === 'on',
    defaultText: 'on',
    meaning:
      'Who loads remote images of an email when its reader asks for them: `on`: the service, so that the sender learns neither the ' +
      "reader's address nor browser, and keeps them for a day in `DATA_DIR`; it needs name servers and the ports of web servers. " +
      '`off`: the browser.',
  }),
};

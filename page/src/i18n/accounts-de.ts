/** The texts of the dialogs about accounts in German. */
import type { AccountMessages } from './accounts-en.ts';

const emails = (count: string): string => `${count} ${count === '1' ? 'E-Mail' : 'E-Mails'}`;

export const accountsDe: AccountMessages = {
  title: 'Postfach verbinden',
  steps: {
    address: 'Postfach',
    server: 'Anmeldung',
    check: 'Prüfung',
    capture: 'Was erfasst wird',
    done: 'Verbunden',
  },
  progress: (step, all) => `Schritt ${step} von ${all}`,
  back: 'Zurück',
  next: 'Weiter',
  busy: 'Einen Moment …',
  said: 'Was der Server gemeldet hat (englisch)',

  address: {
    lead: 'Welches Postfach soll verbunden werden? Die Einstellungen seines Mailservers werden gesucht.',
    address: 'E-Mail-Adresse',
    name: 'Name, den Empfänger sehen',
    find: 'Einstellungen suchen',
    finding: 'Die Einstellungen werden gesucht …',
    byHand: 'Von Hand eingeben',
  },

  server: {
    foundTitle: 'Gefundene Einstellungen',
    foundOf: {
      provider: 'Aus der Liste bekannter Anbieter',
      srv: 'Aus dem DNS der Domain',
      autoconfig: 'Von der Domain für Mailprogramme veröffentlicht',
      mx: 'Nach dem Server, der die E-Mails der Domain annimmt',
    },
    foreign:
      'Ein Server liegt außerhalb der Domain der Adresse. Prüfen Sie, dass er wirklich zu diesem Postfach gehört, bevor Sie das Passwort eingeben.',
    noImap:
      'Für dieses Postfach ist kein Server zum Lesen bekannt. Fragen Sie den Anbieter, oder lassen Sie das Feld leer, um nur zu senden.',
    nothing:
      'Zu dieser Adresse wurden keine Einstellungen gefunden. Der Anbieter oder der Administrator des Mailservers kennt sie.',
    byHand:
      'Geben Sie die Server des Postfachs ein. Der Anbieter oder der Administrator des Mailservers kennt sie.',
    ownSettings: 'Von Hand eingeben',
    change: 'Servereinstellungen',
    how: 'Art der Anmeldung',
    kinds: {
      password: 'Mit Passwort',
      google: 'Zustimmung bei Google',
      microsoft: 'Zustimmung bei Microsoft',
      issuer: 'Zustimmung bei einem anderen Anbieter (OpenID)',
    },
    consentLead: (provider) =>
      `Hier ist kein Passwort nötig: Die Person, der das Postfach gehört, meldet sich bei ${provider} an und erlaubt den Zugriff. Den Link dafür bekommen Sie am Ende.`,
    otherProvider: 'ihrem Anbieter',
    appPassword:
      'Dieser Anbieter verlangt ein Passwort, das er für Programme ausstellt („App-Passwort“). Das übliche Passwort wird abgelehnt. Sie erstellen es in den Sicherheitseinstellungen des Postfachs.',
    user: 'Benutzername',
    userHint: 'Meist die E-Mail-Adresse.',
    password: 'Passwort',
    passwordHint: 'Wird verschlüsselt gespeichert und nie wieder angezeigt.',
    imap: 'E-Mails lesen (IMAP)',
    smtp: 'E-Mails senden (SMTP)',
    host: 'Server',
    hostHint: { imap: 'Leer: Es wird nichts gelesen.', smtp: 'Leer: Es wird nichts gesendet.' },
    port: 'Port',
    security: 'Verschlüsselung',
    securities: {
      tls: 'TLS (empfohlen)',
      starttls: 'STARTTLS',
      offered: 'STARTTLS, falls möglich',
      none: 'Keine',
    },
    insecure:
      'Ohne Verschlüsselung können andere das Passwort und die E-Mails mitlesen. Nur für einen Server im eigenen Netz.',
    smtpLogIn: 'Anmeldung beim Senden',
    smtpLogIns: {
      same: 'Dieselbe wie beim Lesen',
      own: 'Anderer Benutzername und anderes Passwort',
      none: 'Keine Anmeldung',
      keep: 'Das Senden so lassen, wie es ist',
    },
    smtpLogInAlone: 'Mit Benutzername und Passwort',
    smtpUser: 'Benutzername beim Senden',
    smtpPassword: 'Passwort beim Senden',
    application: 'Anwendung beim Anbieter',
    applicationHint:
      'Lassen Sie beides leer, wenn dieser Dienst dort eine eigene Anwendung hat (GOOGLE_CLIENT_ID oder MICROSOFT_CLIENT_ID in seiner Konfiguration).',
    issuer: 'Adresse des OpenID-Anbieters',
    clientId: 'Client-ID',
    clientSecret: 'Client-Secret',
    check: 'Prüfen',
  },

  check: {
    lead: 'Der Dienst verbindet sich mit den Servern und meldet sich an. Nichts wird gespeichert oder geändert.',
    running: 'Die Prüfung läuft. Das kann einige Sekunden dauern …',
    runningMessage: 'Die Prüfung läuft. Die Testnachricht kann bis zu einer halben Minute brauchen …',
    works: 'Alles funktioniert.',
    usable: 'Das Postfach kann verbunden werden.',
    fails: 'Etwas funktioniert noch nicht.',
    steps: {
      read: 'E-Mails lesen',
      send: 'E-Mails senden',
      message: 'Testnachricht',
      dns: 'Einstellungen der Domain (DNS)',
    },
    worked: {
      read: 'Der Dienst kann sich anmelden und das Postfach lesen.',
      send: 'Der Dienst kann sich anmelden und senden.',
      message: 'Sie wurde gesendet und ist angekommen.',
      dns: 'Andere Mailserver können Ihre E-Mails als echt erkennen.',
    },
    dnsFaults:
      'Im DNS der Domain fehlt etwas oder ist falsch. Das Postfach lässt sich trotzdem verbinden, aber E-Mails können als Spam gelten, und Antworten kommen vielleicht nicht an. Geben Sie das an den Administrator der Domain weiter.',
    faults: {
      credentials_refused:
        'Der Server lehnt Benutzername oder Passwort ab. Prüfen Sie beides auf Tippfehler. Manche Anbieter verlangen ein Passwort für Programme („App-Passwort“).',
      host_unknown: 'Einen Server mit diesem Namen gibt es nicht. Prüfen Sie den Namen auf Tippfehler.',
      server_unreachable:
        'Der Server antwortet nicht. Prüfen Sie Name und Port. Vielleicht steht eine Firewall dazwischen.',
      certificate_expired:
        'Das Zertifikat des Servers ist abgelaufen oder läuft bald ab. Sein Betreiber muss es erneuern.',
      certificate_refused:
        'Das Zertifikat des Servers gilt für einen anderen Namen, oder sein Aussteller ist unbekannt. Verwenden Sie den Namen, der im Zertifikat steht.',
      tls_mismatch:
        'Der Server verwendet an diesem Port eine andere Verschlüsselung. Wählen Sie die andere oder den Port, der zu ihr gehört.',
      token_refused:
        'Der Anbieter verweigert den Zugriff. Die Person, der das Postfach gehört, muss neu zustimmen, oder die Anwendung beim Anbieter ist falsch eingerichtet.',
      no_sent_mailbox:
        'Kein Ordner für gesendete E-Mails wurde erkannt. E-Mails, die mit anderen Programmen gesendet werden, werden nicht erfasst.',
      no_smtp:
        'Es gibt keinen Server zum Senden: E-Mails landen in einem Ordner dieses Dienstes und werden nicht zugestellt.',
      consent_missing:
        'Die Server werden später geprüft: Zuerst muss die Person zustimmen, der das Postfach gehört. Den Link dafür bekommen Sie am Ende.',
      message_not_tried: 'Es wurde keine Testnachricht gesendet: Dafür sind beide Server nötig.',
      message_not_arrived:
        'Die Testnachricht wurde gesendet, ist aber noch nicht angekommen. Sehen Sie im Spam-Ordner nach; manche Server brauchen Minuten.',
      message_not_sent:
        'Die Testnachricht konnte nicht gesendet werden. Oft lässt ein Server nur die eigene Adresse als Absender zu.',
      message_not_read: 'Die Testnachricht wurde gesendet, aber der Posteingang konnte nicht gelesen werden.',
      other: 'Der Dienst meldet:',
    },
    details: 'Einzelheiten',
    message: 'Auch eine Testnachricht von diesem Postfach an sich selbst senden',
    again: 'Erneut prüfen',
    correct: 'Korrigieren',
    anyway: 'Trotzdem weiter',
  },

  capture: {
    lead: 'Was soll erfasst werden und hier für Kollegen sichtbar sein? Das Postfach selbst wird nicht verändert.',
    always: 'Der Posteingang und der Ordner für gesendete E-Mails werden immer gelesen.',
    alwaysNamed: (folders) => `Immer gelesen: ${folders}.`,
    folders: 'Weitere Ordner, die gelesen werden',
    otherFolders: 'Ordner nach Namen',
    otherFoldersHint: 'Einer pro Zeile. „Projekte/*“ meint alle unterhalb von Projekte.',
    uses: {
      '\\Archive': 'Archiv',
      '\\All': 'Alle E-Mails',
      '\\Drafts': 'Entwürfe',
      '\\Flagged': 'Markiert',
      '\\Important': 'Wichtig',
      '\\Junk': 'Spam',
      '\\Trash': 'Papierkorb',
    },
    left: 'Auslassen',
    leavesOutPrivate: 'E-Mails, die als privat gekennzeichnet sind',
    leavesOutInternal: 'E-Mails unter Kollegen',
    onlyCustomers: 'E-Mails ohne bekannten Kunden',
    onlyCustomersHint: 'Antworten auf erfasste E-Mails und Zustellberichte werden immer erfasst.',
    internalDomains: 'Domains der Firma',
    internalDomainsHint: 'Eine pro Zeile. Ausgelassen wird, woran nur solche Adressen beteiligt sind.',
    neverAddresses: 'Nie erfassen: E-Mails von diesen Adressen oder nur an sie',
    neverAddressesHint: 'Eine pro Zeile: bank@example.com, *@example.com oder *@*.example.com.',
    neverSubjects: 'Nie erfassen: E-Mails, deren Betreff dies enthält',
    neverSubjectsHint: 'Eins pro Zeile, etwa „Gehaltsabrechnung“.',
    later: 'Das lässt sich jederzeit ändern. Was bis dahin erfasst ist, bleibt.',
  },

  finish: {
    id: 'Kurzname des Kontos',
    idHint: 'Kleinbuchstaben, Ziffern und Bindestriche. Er lässt sich später nicht ändern.',
    adopt: 'Die E-Mails weiterführen, die unter diesem Kurznamen schon erfasst sind',
    connect: 'Verbinden',
  },

  done: {
    titles: {
      good: (address) => `${address} ist verbunden`,
      noAccess: (address) => `${address}: Ein Schritt fehlt noch`,
      failing: (address) => `${address} wurde hinzugefügt`,
    },
    waiting: 'Das Postfach wird verbunden …',
    sendOnly: 'Es kann jetzt gesendet werden. Ein Postfach wird nicht gelesen.',
    reading: 'Das Einlesen beginnt mit den neuesten E-Mails. Sie können dieses Fenster schließen.',
    working: 'Alles ist gelesen. Neue E-Mails erscheinen von selbst.',
    noAccess: 'Warten auf die Zustimmung …',
    failing: 'Das Lesen funktioniert noch nicht.',
    close: 'Fertig',
  },

  logIn: {
    title: 'Passwort und Server',
    lead: (address) => `Die Anmeldung von ${address}. Sie wird geprüft, bevor sie gespeichert wird.`,
    userHint: 'Der gespeicherte Name wird nie angezeigt. Geben Sie den ein, der am Server gilt.',
    check: 'Prüfen und speichern',
    saveAnyway: 'Trotzdem speichern',
    saved: 'Gespeichert. Der Dienst verbindet sich neu.',
  },

  edit: {
    title: (address) => `${address} bearbeiten`,
    name: 'Name, den Empfänger sehen',
    addresses: 'Weitere Absenderadressen',
    addressesHint: 'Adressen dieses Postfachs oder *@example.com für alle einer Domain.',
    address: (number) => `Adresse ${number}`,
    addressName: (number) => `Name zu Adresse ${number}`,
    namePlaceholder: 'Name (freiwillig)',
    add: 'Adresse hinzufügen',
    remove: (address) => `${address} entfernen`,
    capture: 'Was erfasst wird',
    save: 'Speichern',
    saved: 'Gespeichert.',
    reread: 'Die Ordner und Regeln gelten ab jetzt.',
  },

  absence: {
    title: 'Abwesenheit',
    isOn: 'Automatisch antworten',
    hint: 'Jede Person bekommt die Antwort einmal in sieben Tagen. Verteiler und Programme bekommen keine.',
    text: 'Text der Antwort',
    from: 'Von',
    fromHint: 'In Ihrer Zeitzone. Leer: ab sofort.',
    until: 'Bis',
    untilHint: 'Leer: bis Sie sie ausschalten.',
    subject: 'Betreff',
    subjectHint: 'Leer: „Automatische Antwort:“ und der Betreff der E-Mail.',
  },

  conflict: {
    title: 'Dieses Konto wurde inzwischen auch von anderen geändert',
    lead: 'Ihre Eingaben sind noch da. Diese Einstellungen wurden von beiden geändert:',
    names: {
      name: 'Name',
      addresses: 'Weitere Adressen',
      out_of_office: 'Automatische Antwort',
      servers: 'Server',
      folders: 'Ordner',
      never_addresses: 'Adressen, die nie erfasst werden',
      never_subjects: 'Betreffe, die nie erfasst werden',
      internal_domains: 'E-Mails unter Kollegen',
      leave_out_private: 'Private E-Mails',
      only_customers: 'Nur bekannte Kunden',
    },
    now: (value) => `jetzt: ${value}`,
    nothing: 'nichts',
    yes: 'ausgelassen',
    overwrite: 'Meine speichern',
  },

  remove: {
    title: (address) => `${address} löschen`,
    lead: 'Der Dienst liest dieses Postfach dann nicht mehr und sendet nicht mehr von ihm. Das Postfach auf dem Mailserver bleibt, wie es ist.',
    mail: 'Was geschieht mit den erfassten E-Mails?',
    keep: 'Behalten',
    keepHint: 'Threads und E-Mails bleiben hier lesbar.',
    erase: 'Vernichten',
    eraseHint: (count) =>
      `${count} E-Mails werden mit Dateien und Entwürfen hier vernichtet. Das lässt sich nicht rückgängig machen.`,
    counting:
      'Alle E-Mails werden mit Dateien und Entwürfen hier vernichtet. Das lässt sich nicht rückgängig machen.',
    type: (id) => `Zur Bestätigung geben Sie den Kurznamen des Kontos ein: ${id}`,
    typeWrong: 'Das ist nicht der Kurzname des Kontos.',
    remove: 'Konto löschen',
    removeAndErase: 'Löschen und E-Mails vernichten',
    removed: 'Das Konto ist gelöscht.',
    erasing: 'Das Konto ist gelöscht. Seine E-Mails werden vernichtet.',
    hasSends:
      'Von diesem Konto warten noch E-Mails auf den Versand. Senden Sie sie zuerst, oder brechen Sie sie ab, unter „Ausgang“.',
  },

  past: {
    title: (address: string) => `Regeln und gespeicherte E-Mails von ${address}`,
    lead: 'Regeln lassen neue E-Mails weg. Hier sehen Sie, welche gespeicherten E-Mails die Regeln dieses Postfachs weggelassen hätten, und können sie entfernen.',
    judging: (count: string) => `Die gespeicherten E-Mails werden durchgesehen: bisher ${count} …`,
    nothing: (judged: string) => `Von ${emails(judged)} würde keine entfernt.`,
    result: (count: string, size: string, threads: number) =>
      `Entfernt würden ${emails(count)} (${size})${threads === 0 ? '' : threads === 1 ? '; ein Vorgang endet damit' : `; ${threads} Vorgänge enden damit`}.`,
    counts: 'Gespeicherte E-Mails',
    kept: 'Nach den Regeln behalten',
    notFromMailbox: 'Nicht aus einem Postfach, also ohne Regeln',
    unknown: 'Im Zweifel behalten',
    leftOut: {
      address: 'Weggelassen wegen einer Adresse',
      subject: 'Weggelassen wegen des Betreffs',
      internal: 'Weggelassen als E-Mail unter Kollegen',
      private: 'Weggelassen als privat',
      stranger: 'Weggelassen, weil kein Kunde beteiligt ist',
    },
    staying: {
      answered: 'Bleibt: von hier beantwortet',
      drafted: 'Bleibt: ein Entwurf beantwortet sie',
      handled: 'Bleibt: ihr Vorgang wurde zugewiesen, markiert oder geordnet',
      report: 'Bleibt: ein Bericht über Gesendetes',
    },
    removable: 'Würden entfernt',
    examples: 'Einige davon',
    more: 'Es können mehr sein; das sind die ersten.',
    noSubject: '(ohne Betreff)',
    warning: (count: string) =>
      `Damit werden hier ${emails(count)} mit allen Dateien endgültig entfernt. Sie kommen nicht zurück, auch wenn die Regeln später geändert werden. Das Postfach beim Mailserver bleibt, wie es ist.`,
    type: (count: string) => `Geben Sie zur Bestätigung die Zahl der E-Mails ein: ${count}`,
    typeWrong: 'Das ist nicht die Zahl der E-Mails.',
    remove: (count: string) => `${emails(count)} entfernen`,
    changed:
      'Das Konto oder seine E-Mails wurden inzwischen geändert. Es wurde nichts entfernt. Sehen Sie es noch einmal an.',
    again: 'Noch einmal ansehen',
    counting: (judged: string) => `Vor dem Entfernen wird noch einmal gezählt: bisher ${emails(judged)} …`,
    removing: (count: string, all: string) => `Bisher entfernt: ${count} von ${emails(all)}.`,
    refused:
      'Es wurde nichts entfernt: Die Zahl der E-Mails ist inzwischen eine andere. Sehen Sie es noch einmal an.',
    stopped: (count: string) => `Angehalten. Entfernt: ${emails(count)}.`,
    done: (count: string) => `Fertig. Entfernt: ${emails(count)}.`,
    keptMeanwhile: (count: string) => `Behalten, weil inzwischen jemand damit gearbeitet hat: ${count}`,
    stop: 'Anhalten',
    ask: 'Was würde das von den gespeicherten E-Mails weglassen?',
    askHint: 'Zählt gespeicherte E-Mails nach den Regeln oben. Es wird nichts geändert.',
    askSaved:
      'Gesicherte Regeln lassen nur neue E-Mails weg. Gespeicherte werden unter „Regeln und gespeicherte E-Mails“ entfernt.',
    askAgain: 'Die Regeln wurden geändert: Fragen Sie noch einmal.',
  },

  leftOut: {
    title: 'Warum fehlt eine E-Mail?',
    field: 'Message-ID',
    hint: 'Aus den Kopfzeilen der E-Mail („Message-ID“). Mailprogramme zeigen sie als „Quelltext“ oder „Original“.',
    search: 'Nachsehen',
    none: 'Keine Regel hat sie in den letzten 30 Tagen ausgelassen. Vielleicht ist sie in keinem gelesenen Ordner angekommen, oder sie liegt in der Quarantäne.',
    found: (reason, mailbox, moment) => `${reason} Ordner ${mailbox}, ${moment}.`,
    reasons: {
      address: 'Ausgelassen wegen einer Adresse, die nie erfasst wird.',
      subject: 'Ausgelassen wegen ihres Betreffs.',
      internal: 'Ausgelassen als E-Mail unter Kollegen.',
      private: 'Ausgelassen, weil sie als privat gekennzeichnet ist.',
      stranger: 'Ausgelassen, weil kein bekannter Kunde beteiligt ist.',
    },
  },

  problems: {
    needed: 'Bitte ausfüllen.',
    port: 'Eine Zahl von 1 bis 65535.',
    noServer: 'Geben Sie einen Server zum Lesen oder zum Senden ein.',
    noClient: (provider) =>
      `Dieser Dienst hat noch keine Anwendung bei ${provider}. Tragen Sie hier die Daten einer solchen ein.`,
    server: 'Der Dienst nimmt diesen Server nicht an:',
    folders: 'Ein Name ist nicht der eines Ordners.',
    neverAddresses:
      'Jede Zeile braucht eine Adresse wie bank@example.com, *@example.com oder *@*.example.com.',
    neverSubjects: 'Jede Zeile darf höchstens 200 Zeichen haben.',
    internalDomains: 'Jede Zeile braucht eine Domain wie example.com.',
    addresses: 'Eine Adresse ist ungültig oder doppelt.',
    noAnswer: 'Der Dienst hat nicht geantwortet. Versuchen Sie es erneut.',
  },
};

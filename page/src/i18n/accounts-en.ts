const emails = (count: string): string => `${count} ${count === '1' ? 'email' : 'emails'}`;

/** The texts of the dialogs about accounts, loaded with them. */
export const accountsEn = {
  title: 'Connect a mailbox',
  steps: {
    address: 'Mailbox',
    server: 'Log-in',
    check: 'Check',
    capture: 'What is recorded',
    done: 'Connected',
  },
  progress: (step: string, all: string) => `Step ${step} of ${all}`,
  back: 'Back',
  next: 'Continue',
  busy: 'One moment …',
  said: 'What the server said (in English)',

  address: {
    lead: 'Which mailbox should be connected? The settings of its mail server are looked up.',
    address: 'Email address',
    name: 'Name that recipients see',
    find: 'Look up settings',
    finding: 'Looking up the settings …',
    byHand: 'Enter them by hand',
  },

  server: {
    foundTitle: 'Settings found',
    foundOf: {
      provider: 'From the list of known providers',
      srv: 'From the DNS of the domain',
      autoconfig: 'Published by the domain for mail programs',
      mx: 'By the server that receives the mail of the domain',
    },
    foreign:
      'A server is outside the domain of the address. Make sure that it really belongs to this mailbox before you enter the password.',
    noImap:
      'No server for reading this mailbox is known. Ask the provider, or leave the server empty to send only.',
    nothing:
      'No settings were found for this address. The provider or the administrator of the mail server knows them.',
    byHand:
      'Enter the servers of the mailbox. The provider or the administrator of the mail server knows them.',
    ownSettings: 'Enter by hand',
    change: 'Server settings',
    how: 'How to log in',
    kinds: {
      password: 'With a password',
      google: 'Consent at Google',
      microsoft: 'Consent at Microsoft',
      issuer: 'Consent at another provider (OpenID)',
    },
    consentLead: (provider: string) =>
      `No password is needed here: the owner of the mailbox signs in at ${provider} and allows the access. You get the link for that at the end.`,
    otherProvider: 'their provider',
    appPassword:
      'This provider wants a password that it makes for programs (“app password”). The usual password will be refused. You create it in the security settings of the mailbox.',
    user: 'User name',
    userHint: 'Usually the email address.',
    password: 'Password',
    passwordHint: 'Stored encrypted, and never shown again.',
    imap: 'Reading mail (IMAP)',
    smtp: 'Sending mail (SMTP)',
    host: 'Server',
    hostHint: { imap: 'Empty: no mail is read.', smtp: 'Empty: no mail is sent.' },
    port: 'Port',
    security: 'Encryption',
    securities: {
      tls: 'TLS (recommended)',
      starttls: 'STARTTLS',
      offered: 'STARTTLS if offered',
      none: 'None',
    },
    insecure:
      'Without encryption others can read the password and the mail. Only for a server in your own network.',
    smtpLogIn: 'Log-in for sending',
    smtpLogIns: {
      same: 'Same as for reading',
      own: 'Another user name and password',
      none: 'No log-in',
      keep: 'Leave sending as it is',
    },
    smtpLogInAlone: 'With the user name and password',
    smtpUser: 'User name for sending',
    smtpPassword: 'Password for sending',
    application: 'Application at the provider',
    applicationHint:
      'Leave both empty if this service has its own application there (GOOGLE_CLIENT_ID or MICROSOFT_CLIENT_ID in its configuration).',
    issuer: 'Address of the OpenID provider',
    clientId: 'Client ID',
    clientSecret: 'Client secret',
    check: 'Check',
  },

  check: {
    lead: 'The service connects to the servers and logs in. Nothing is stored or changed.',
    running: 'Checking. This can take some seconds …',
    runningMessage: 'Checking. The test message can take up to half a minute …',
    works: 'Everything works.',
    usable: 'The mailbox can be connected.',
    fails: 'Something does not work yet.',
    steps: {
      read: 'Reading mail',
      send: 'Sending mail',
      message: 'Test message',
      dns: 'Domain settings (DNS)',
    },
    worked: {
      read: 'The service can log in and read the mailbox.',
      send: 'The service can log in and send.',
      message: 'It was sent and arrived.',
      dns: 'Other mail servers can recognise your mail as genuine.',
    },
    dnsFaults:
      'Something is missing or wrong in the DNS of the domain. The mailbox can be connected all the same, but mail may be treated as spam, and answers may not arrive. Pass this on to the administrator of the domain.',
    faults: {
      credentials_refused:
        'The server refuses the user name or the password. Check both for typing errors. Some providers want a password made for programs (“app password”).',
      host_unknown: 'There is no server with this name. Check the name of the server for typing errors.',
      server_unreachable:
        'The server does not answer. Check its name and port. A firewall may be in between.',
      certificate_expired:
        'The certificate of the server has expired or soon will. Its operator has to renew it.',
      certificate_refused:
        'The certificate of the server is for another name, or its issuer is unknown. Use the name of the server that the certificate has.',
      tls_mismatch:
        'The server uses another kind of encryption at this port. Choose the other one, or the port that belongs to it.',
      token_refused:
        'The provider refuses the access. The owner of the mailbox has to consent again, or the application at the provider is not set up correctly.',
      no_sent_mailbox:
        'No folder for sent mail was recognised. Mail that people send with another program will not be recorded.',
      no_smtp: 'There is no server for sending: mail is put into a folder of this service and not delivered.',
      consent_missing:
        'The servers are checked later: first the owner of the mailbox has to consent. You get the link at the end.',
      message_not_tried: 'No test message was sent: it needs both servers.',
      message_not_arrived:
        'The test message was sent but has not arrived yet. Look into the spam folder; some servers take minutes.',
      message_not_sent:
        'The test message could not be sent. Often a server lets a user send only with the user’s own address.',
      message_not_read: 'The test message was sent, but the inbox could not be read.',
      other: 'The service reports:',
    },
    details: 'Details',
    message: 'Also send a test message from this mailbox to itself',
    again: 'Check again',
    correct: 'Correct it',
    anyway: 'Continue anyway',
  },

  capture: {
    lead: 'What should be recorded and be visible to colleagues here? The mailbox itself is not changed.',
    always: 'The inbox and the folder for sent mail are always read.',
    alwaysNamed: (folders: string) => `Always read: ${folders}.`,
    folders: 'Other folders to read',
    otherFolders: 'Folders by name',
    otherFoldersHint: 'One per line. “Projects/*” means everything below Projects.',
    uses: {
      '\\Archive': 'Archive',
      '\\All': 'All mail',
      '\\Drafts': 'Drafts',
      '\\Flagged': 'Flagged',
      '\\Important': 'Important',
      '\\Junk': 'Spam',
      '\\Trash': 'Trash',
    } as Readonly<Record<string, string>>,
    left: 'Leave out',
    leavesOutPrivate: 'Mail that its sender marked as private',
    leavesOutInternal: 'Mail between colleagues',
    onlyCustomers: 'Mail without a known customer',
    onlyCustomersHint: 'Answers to recorded mail and delivery reports are always recorded.',
    internalDomains: 'Domains of the company',
    internalDomainsHint: 'One per line. Mail is left out when everyone in it has such an address.',
    neverAddresses: 'Never record mail from, or only to, these addresses',
    neverAddressesHint: 'One per line: bank@example.com, *@example.com, or *@*.example.com.',
    neverSubjects: 'Never record when the subject contains',
    neverSubjectsHint: 'One per line, such as “payslip”.',
    later: 'You can change this at any time. What is recorded by then stays.',
  },

  finish: {
    id: 'Short name of the account',
    idHint: 'Lower-case letters, digits and hyphens. It cannot be changed later.',
    adopt: 'Continue the mail that is already recorded under this short name',
    connect: 'Connect',
  },

  done: {
    titles: {
      good: (address: string) => `${address} is connected`,
      noAccess: (address: string) => `${address}: one step is left`,
      failing: (address: string) => `${address} was added`,
    },
    waiting: 'Connecting to the mailbox …',
    sendOnly: 'Mail can be sent now. No mailbox is read.',
    reading: 'Reading begins with the newest mail. You can close this window.',
    working: 'Everything is read. New mail appears by itself.',
    noAccess: 'Waiting for the consent of the owner …',
    failing: 'Reading does not work yet.',
    close: 'Done',
  },

  logIn: {
    title: 'Password and servers',
    lead: (address: string) => `The log-in of ${address}. It is checked before it is saved.`,
    userHint: 'The stored user name is never shown. Enter the one that is used at the server.',
    check: 'Check and save',
    saveAnyway: 'Save anyway',
    saved: 'Saved. The service connects again.',
  },

  edit: {
    title: (address: string) => `Edit ${address}`,
    name: 'Name that recipients see',
    addresses: 'Further addresses to send from',
    addressesHint: 'Addresses of this mailbox, or *@example.com for all of a domain.',
    address: (number: string) => `Address ${number}`,
    addressName: (number: string) => `Name for address ${number}`,
    namePlaceholder: 'Name (optional)',
    add: 'Add an address',
    remove: (address: string) => `Remove ${address}`,
    capture: 'What is recorded',
    save: 'Save',
    saved: 'Saved.',
    reread: 'Folders and rules apply from now on.',
  },

  absence: {
    title: 'Absence',
    isOn: 'Answer automatically',
    hint: 'Each person gets the answer once in seven days. Lists and programs get none.',
    text: 'Text of the answer',
    from: 'From',
    fromHint: 'In your time zone. Empty: at once.',
    until: 'Until',
    untilHint: 'Empty: until you switch it off.',
    subject: 'Subject',
    subjectHint: 'Empty: “Automatic reply:” and the subject of the email.',
  },

  conflict: {
    title: 'A colleague changed this account meanwhile',
    lead: 'What you typed is still here. These settings were changed by both:',
    names: {
      name: 'Name',
      addresses: 'Further addresses',
      out_of_office: 'Automatic answer',
      servers: 'Servers',
      folders: 'Folders',
      never_addresses: 'Addresses that are never recorded',
      never_subjects: 'Subjects that are never recorded',
      internal_domains: 'Mail between colleagues',
      leave_out_private: 'Private mail',
      only_customers: 'Only known customers',
    },
    now: (value: string) => `now: ${value}`,
    nothing: 'nothing',
    yes: 'left out',
    overwrite: 'Save mine',
  },

  remove: {
    title: (address: string) => `Delete ${address}`,
    lead: 'The service no longer reads this mailbox and no longer sends from it. The mailbox at the mail server stays as it is.',
    mail: 'What happens to the recorded mail?',
    keep: 'Keep it',
    keepHint: 'Threads and emails stay readable here.',
    erase: 'Erase it',
    eraseHint: (count: string) =>
      `${count} emails with their files and drafts are erased here. This cannot be undone.`,
    counting: 'All its emails with their files and drafts are erased here. This cannot be undone.',
    type: (id: string) => `To confirm, type the short name of the account: ${id}`,
    typeWrong: 'This is not the short name of the account.',
    remove: 'Delete the account',
    removeAndErase: 'Delete it and erase its mail',
    removed: 'The account is deleted.',
    erasing: 'The account is deleted. Its mail is being erased.',
    hasSends:
      'Emails of this account still wait to be sent. Send or cancel them first, under “Outgoing mail”.',
  },

  past: {
    title: (address: string) => `Rules and recorded mail of ${address}`,
    lead: 'Rules leave out new mail. Here you see which recorded emails the saved rules of this mailbox would have left out, and can remove them.',
    judging: (count: string) => `Looking through the recorded emails: ${count} so far …`,
    nothing: (judged: string) => `None of ${emails(judged)} would be removed.`,
    result: (count: string, size: string, threads: number) =>
      `${emails(count)} (${size}) would be removed${threads === 0 ? '' : threads === 1 ? '; one thread ends with them' : `; ${threads} threads end with them`}.`,
    counts: 'Recorded emails',
    kept: 'Kept by the rules',
    notFromMailbox: 'Not from a mailbox, so no rules apply',
    unknown: 'In doubt, and kept',
    leftOut: {
      address: 'Left out by address',
      subject: 'Left out by subject',
      internal: 'Left out as mail between colleagues',
      private: 'Left out as private',
      stranger: 'Left out without a customer',
    },
    staying: {
      answered: 'Stays: answered from here',
      drafted: 'Stays: a draft answers it',
      handled: 'Stays: its thread was assigned, labelled or decided on',
      report: 'Stays: a report about sent mail',
    },
    removable: 'Would be removed',
    examples: 'Some of them',
    more: 'There may be more; these are the first.',
    noSubject: '(no subject)',
    warning: (count: string) =>
      `This removes ${emails(count)} with all files here for good. They do not come back, even if the rules are changed later. The mailbox at the mail server stays as it is.`,
    type: (count: string) => `To confirm, type the number of emails: ${count}`,
    typeWrong: 'This is not the number of emails.',
    remove: (count: string) => `Remove ${emails(count)}`,
    changed: 'The account or its mail changed meanwhile. Nothing was removed. Look at it again.',
    again: 'Look again',
    counting: (judged: string) => `Counting once more before anything is removed: ${emails(judged)} so far …`,
    removing: (count: string, all: string) => `Removed so far: ${count} of ${emails(all)}.`,
    refused: 'Nothing was removed: the number of emails is another one by now. Look at it again.',
    stopped: (count: string) => `Stopped. Removed: ${emails(count)}.`,
    done: (count: string) => `Done. Removed: ${emails(count)}.`,
    keptMeanwhile: (count: string) => `Kept, because a colleague has worked with them since: ${count}`,
    stop: 'Stop',
    ask: 'What would this leave out of recorded mail?',
    askHint: 'Counts recorded emails by the rules above. Nothing is changed.',
    askSaved:
      'Saved rules leave out new mail alone. Recorded mail is removed under “Rules and recorded mail”.',
    askAgain: 'The rules were changed: ask again.',
  },

  leftOut: {
    title: 'Why is this mail not here?',
    field: 'Message-ID',
    hint: 'From the headers of the email (“Message-ID”). Mail programs show them as “source” or “original”.',
    search: 'Look it up',
    none: 'It was not left out by a rule in the last 30 days. It may not have arrived in a folder that is read, or it may be in quarantine.',
    found: (reason: string, mailbox: string, moment: string) => `${reason} Folder ${mailbox}, ${moment}.`,
    reasons: {
      address: 'Left out because of an address that is never recorded.',
      subject: 'Left out because of its subject.',
      internal: 'Left out as mail between colleagues.',
      private: 'Left out because its sender marked it as private.',
      stranger: 'Left out because nobody in it is a known customer.',
    },
  },

  problems: {
    needed: 'Please fill this in.',
    port: 'A number from 1 to 65535.',
    noServer: 'Enter a server for reading or for sending.',
    noClient: (provider: string) =>
      `This service has no application at ${provider} yet. Enter the data of one here.`,
    server: 'The service does not accept this server:',
    folders: 'A name is not that of a folder.',
    neverAddresses: 'Each line needs an address such as bank@example.com, *@example.com or *@*.example.com.',
    neverSubjects: 'Each line may have at most 200 characters.',
    internalDomains: 'Each line needs a domain such as example.com.',
    addresses: 'An address is not valid, or is there twice.',
    noAnswer: 'The service did not answer. Try again.',
  },
};

export type AccountMessages = typeof accountsEn;

// docs/reference/audit-events.md: every action of the audit log, from the list that the store accepts.
import { auditActions, auditEvents } from '../../../src/api/audit/audit-event.ts'
import { code, page, table } from '../markdown.ts'

function eventSection(action: (typeof auditActions)[number]): string {
  const { description, actor, object, outcomes, details } = auditEvents[action]
  const fields = [
    ['`actor`', actor],
    ['`object`', object],
    ...Object.entries<string>(outcomes).map(([outcome, meaning]) => [`\`outcome\`: ${code(outcome)}`, meaning]),
    ...Object.entries<string>(details).map(([field, meaning]) => [code(`details.${field}`), meaning]),
  ]
  return [`## ${action}`, description, table(['Field', 'Value'], fields)].join('\n\n')
}

const entryFields = [
  ['`sequence`', 'The number of the entry. The first is 1, and no number is missing.'],
  ['`at`', 'When the entry was written, by the clock of the process that wrote it (RFC 3339, UTC).'],
  ['`action`', 'What was done: one of the actions on this page.'],
  [
    '`actor`',
    'Who did it. People are `github|<host>|<numeric user id>`, because logins can be taken over; parts of the platform are `sekisho:<part>`.',
  ],
  [
    '`namespace`',
    'The namespace of the affected tenant; absent when there is none. Admins of a tenant read the entries of their namespace.',
  ],
  ['`object`', 'What it was done to.'],
  [
    '`outcome`',
    '`allowed`: it was done. `denied`: a check or a policy refused it. `failed`: it was permitted, but an error prevented it.',
  ],
  ['`reason`', 'Why, as text for people.'],
  ['`details`', 'Facts such as ids and permissions. An entry does not always have every field.'],
  ['`previousHash`', 'The `hash` of the entry before.'],
  ['`hash`', 'SHA-256 over the other fields, `previousHash` included: a changed, removed or inserted entry breaks the chain.'],
]

const verifying = `## How to read and verify the log

[audit.md](../guide/audit.md): questions, exports, verification, checkpoints, retention.`

/** The page as Markdown. */
export function auditEventsPage(): string {
  return page({
    title: 'Audit events',
    subject: 'This page lists the events of the audit log with their actors, objects, outcomes and details.',
    source: '`src/api/audit/audit-event.ts`',
    sections: [
      table(
        ['Action', 'Recorded when'],
        auditActions.map(action => [`[${action}](#${action.replaceAll('.', '')})`, auditEvents[action].description]),
      ),
      '## Fields of an entry',
      table(['Field', 'Value'], entryFields),
      ...auditActions.map(eventSection),
      verifying,
    ],
  })
}

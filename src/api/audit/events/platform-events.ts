// The audit events about the platform itself: its keys and its log. Part of the list in audit-event.ts.
import type { AuditEvent } from '../audit-event-shape.ts'

const lostEntries = {
  lost: 'The sequences of the first and of the last entry that are known to be missing.',
  remaining: 'Sequence and hash of the entry after which entries are missing.',
  attested: 'Sequence and hash of the last missing entry that a signed checkpoint attests.',
}

export const platformAuditEvents = {
  'refresh-token.replayed': {
    description: 'A refresh token that was used before was sent again.',
    actor: 'The person to whom it was issued, as `github|<host>|<numeric user id>`; whoever sent it has it.',
    object: '`RefreshToken`',
    outcomes: {
      allowed: 'Its answer may have been lost: it got another successor, and the one before is worth nothing any more.',
      denied: 'It may have been stolen: all tokens of the sign-in ended.',
    },
    details: {},
  },
  'audit.truncated': {
    description:
      'Entries at the end of the log are missing that a signed checkpoint attests: they were lost in a crash, or removed. The entries that are left were not altered.',
    actor: '`sekisho:broker`, or the platform admin who presented the checkpoint.',
    object: '`AuditLog`',
    outcomes: {
      failed: 'What the missing entries said is lost. The problem is reported until a platform admin acknowledges it.',
    },
    details: {
      ...lostEntries,
      statement: 'The three parts of the signed checkpoint (a JWS), which proves that the missing entries existed.',
    },
  },
  'audit.prune-approved': {
    description:
      'A platform admin allowed that the oldest entries are removed (`sekisho audit prune`). Recorded before anything is removed; the program of the database’s owner removes them.',
    actor: 'The platform admin.',
    object: '`AuditLog`',
    outcomes: { allowed: 'The entries up to the cut may be removed. The reason is what the admin gave.' },
    details: {
      cut: 'Sequence and hash of the last entry that may be removed.',
      cutAt: 'When that entry was written.',
      cutStatement:
        'The three parts of the signed cut (a JWS), by which `sekisho audit verify` accepts that the log begins after it.',
    },
  },
  'audit.pruned': {
    description: 'The platform found that the log begins after an approved cut.',
    actor: '`sekisho:broker`.',
    object: '`AuditLog`',
    outcomes: { allowed: 'The entries up to the cut are gone. The rest of the log verifies with the signed cut.' },
    details: { cut: 'Sequence and hash of the last entry that was removed.', approvedBy: 'Who approved the cut.' },
  },
  'audit.loss-acknowledged': {
    description: 'A platform admin examined why entries are missing and acknowledged it (`sekisho audit acknowledge`).',
    actor: 'The platform admin.',
    object: '`AuditLog`',
    outcomes: {
      allowed: 'The reason is what the admin gave. `sekisho audit verify` reports the loss with this acknowledgement.',
    },
    details: {
      ...lostEntries,
      acknowledgement:
        'The three parts of the acknowledgement as the platform signed it (a JWS): whoever owns the database only cannot make one.',
    },
  },
  'sealing-keys.counted': {
    description:
      'A process counted which keys of its keyring (`SEKISHO_SEALING_KEYS`) seal its rows. Recorded when its keyring changed, and when it sealed rows again under the first key.',
    actor: '`sekisho:broker` or `sekisho:controllers`.',
    object: '`SealingKeys/<process>`',
    outcomes: {
      allowed: 'Every row can be opened.',
      failed: 'Some rows cannot be opened: their key is not in the keyring, or they were altered.',
    },
    details: {
      keys: 'The fingerprints of the keyring; the first key seals.',
      rows: 'How many values each of these keys sealed, in their order.',
      unknownKey: 'How many values no key of the keyring sealed.',
      resealed: 'How many values were sealed again under the first key.',
    },
  },
  'pod.forced': {
    description:
      'A pod in a namespace of a tenant that is being deleted had not ended two minutes after its grace period, and is removed without its node: a container of it may still run there until the node answers.',
    actor: '`sekisho:tenant`.',
    object: '`Pod/<namespace>/<name>`',
    outcomes: { allowed: 'The namespace goes on ending.' },
    details: { uid: 'The UID of the pod.', node: 'The name of its node, empty when it has none.' },
  },
  'token-desk.authority-created': {
    description:
      'The authority of the certificates of the token desk is replaced: workloads are given the new one beside the old one, and from a later time on it is used.',
    actor: '`sekisho:token-desk`.',
    object: '`TokenDeskAuthority`',
    outcomes: { allowed: 'The reason says why: the old one nears its end, or an admin requested it.' },
    details: {
      fingerprint: 'SHA-256 of the new certificate.',
      servedFrom: 'From when on the token desk uses it.',
    },
  },
} as const satisfies Readonly<Record<string, AuditEvent>>

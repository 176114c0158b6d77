// Owns: every way in which the emulator can be told to misbehave, as data: one source for the static type, the check of what an arming
// says, the forms of the page and the generated documentation. Never acts.
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false }
const method = Type.Optional(
  Type.String({ maxLength: 10, pattern: '^[A-Z]*$', description: 'Only requests with this method; empty: any.' }),
)
const path = Type.Optional(
  Type.String({
    maxLength: 500,
    description:
      'Only requests whose path begins so; `*` stands for one segment. REST paths are meant below the REST root, all others as they are.',
  }),
)
const target = { method, path }
const headers = Type.Optional(
  Type.Record(Type.String(), Type.String({ maxLength: 1000 }), { description: 'Headers of the answer.' }),
)
const failure = Type.Integer({ minimum: 400, maximum: 599, description: 'Status of the answer.' })
const milliseconds = Type.Integer({ minimum: 1, maximum: 600_000 })
const subject = {
  event: Type.Optional(Type.String({ maxLength: 60, description: 'Only this event; empty: any.' })),
  action: Type.Optional(Type.String({ maxLength: 60, description: 'Only this action; empty: any.' })),
}

/** By name: the parameters of each kind of fault, and what it does. */
export const faultKinds = {
  'rest-status': Type.Object(
    { ...target, status: failure, headers, message: Type.Optional(Type.String({ maxLength: 500 })) },
    { ...closed, description: 'A REST route answers this status and does nothing.' },
  ),
  'rate-limited': Type.Object(
    {
      ...target,
      limit: Type.Union([Type.Literal('primary'), Type.Literal('secondary')], { description: 'Which limit is said to be hit.' }),
      status: Type.Optional(Type.Union([Type.Literal(403), Type.Literal(429)], { description: 'Default 403.' })),
      retryAfter: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 86_400, description: 'Seconds in `retry-after`; absent: no such header.' }),
      ),
    },
    { ...closed, description: "A REST route refuses with the text and headers of GitHub's primary or secondary rate limit." },
  ),
  'web-status': Type.Object(
    { ...target, status: failure, headers },
    { ...closed, description: 'A page or an OAuth address answers this status with an HTML page and does nothing.' },
  ),
  'git-status': Type.Object(
    { ...target, status: failure, headers },
    { ...closed, description: 'Git over HTTP answers this status in plain text and transfers nothing.' },
  ),
  'slow-answer': Type.Object(
    {
      ...target,
      milliseconds,
      when: Type.Optional(
        Type.Union([Type.Literal('before'), Type.Literal('after')], {
          description:
            'Before the request is handled (default), or after: then it has had its effect although the caller gave up.',
        }),
      ),
    },
    { ...closed, description: 'The answer comes late. Any request but those of the control surface.' },
  ),
  'slow-body': Type.Object(
    { ...target, bytesPerSecond: Type.Integer({ minimum: 1, maximum: 1_000_000 }) },
    { ...closed, description: 'The head of the answer comes at once, its body at this speed.' },
  ),
  reset: Type.Object(
    {
      ...target,
      when: Type.Union([Type.Literal('before'), Type.Literal('after'), Type.Literal('during')], {
        description: 'Before the request has an effect, after it had one, or in the middle of the body of the answer.',
      }),
      bytes: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000_000,
          description:
            'For `during`: after so many bytes of the body (default 0: the head alone). A shorter body is cut at its end.',
        }),
      ),
    },
    {
      ...closed,
      description: 'The connection is reset (TCP RST) instead of answered. Git too: `during` breaks a pack in its middle.',
    },
  ),
  'clock-skew': Type.Object(
    {
      seconds: Type.Integer({
        minimum: -2_592_000,
        maximum: 2_592_000,
        description: 'Positive: the clock of the emulator is ahead.',
      }),
    },
    {
      ...closed,
      description:
        'The clock of the emulator is wrong until disarmed: its Date header, the check of App JWTs, the life of tokens and all time stamps.',
    },
  ),
  'wider-token': Type.Object(
    {},
    { ...closed, description: 'Minting answers a token as wide as the installation, whatever was asked.' },
  ),
  'fresh-token-refused': Type.Object(
    {
      status: Type.Union([Type.Literal(401), Type.Literal(403)], {
        description: '401: the token is not replicated yet; 403: its permissions are not.',
      }),
      uses: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          description: 'Uses of the token that are refused (default 1); then it works.',
        }),
      ),
    },
    { ...closed, description: 'A newly minted installation token is refused at first by REST and git.' },
  ),
  'token-revoked': Type.Object(target, {
    ...closed,
    description: 'The token of a request is revoked for good just before the request is handled.',
  }),
  'installation-suspended': Type.Object(target, {
    ...closed,
    description:
      'The installation of a request (of its token, or named in its path) is suspended by its owner just before the request is handled.',
  }),
  'lost-webhook': Type.Object(
    {
      ...subject,
      record: Type.Optional(
        Type.Union([Type.Literal('nothing'), Type.Literal('failure'), Type.Literal('success')], {
          description: 'What the list of deliveries says about it: nothing (default), that it failed, or that it arrived.',
        }),
      ),
    },
    { ...closed, description: 'A webhook delivery is not sent.' },
  ),
  'doubled-webhook': Type.Object(
    {
      ...subject,
      newGuid: Type.Optional(
        Type.Boolean({ description: 'The second delivery has a GUID of its own (default: the same GUID).' }),
      ),
    },
    { ...closed, description: 'A webhook is delivered twice.' },
  ),
  'late-webhook': Type.Object(
    { ...subject, milliseconds },
    { ...closed, description: 'A webhook is delivered so much later; those after it overtake it.' },
  ),
  'reordered-webhook': Type.Object(
    { ...subject, milliseconds: Type.Optional(milliseconds) },
    {
      ...closed,
      description: 'A webhook is held back until the next one of its hook was sent, or for so long (default 2000 milliseconds).',
    },
  ),
} as const

type Kinds = typeof faultKinds
export type FaultKind = keyof Kinds

/** A fault as it is armed: its kind and the parameters of that kind. */
export type Fault = { readonly [Kind in FaultKind]: { readonly kind: Kind } & Readonly<Static<Kinds[Kind]>> }[FaultKind]
export type FaultOf<Kind extends FaultKind> = Extract<Fault, { readonly kind: Kind }>

/** What a kind of fault does, in one sentence. */
export function describeFault(kind: FaultKind): string {
  const schema = faultKinds[kind]
  return 'description' in schema ? String(schema.description) : ''
}

export function isFaultKind(text: string): text is FaultKind {
  return Object.hasOwn(faultKinds, text)
}

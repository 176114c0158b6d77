// Every kind of fault, as data: one source for the static type, the validation of an arming request and the generated
// documentation.
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false }
const method = Type.Optional(
  Type.String({ maxLength: 10, pattern: '^[A-Z]*$', description: 'Only requests with this method; empty: any.' }),
)
const path = Type.Optional(
  Type.String({
    maxLength: 500,
    description:
      'Only requests whose path starts with this; `*` stands for one segment. A REST path is relative to the REST root.',
  }),
)
const target = { method, path }
const headers = Type.Optional(
  Type.Record(Type.String(), Type.String({ maxLength: 1000 }), { description: 'Headers of the response.' }),
)
const failure = Type.Integer({ minimum: 400, maximum: 599, description: 'Status of the response.' })
const milliseconds = Type.Integer({ minimum: 1, maximum: 600_000 })
const subject = {
  event: Type.Optional(Type.String({ maxLength: 60, description: 'Only this event; empty: any.' })),
  action: Type.Optional(Type.String({ maxLength: 60, description: 'Only this action; empty: any.' })),
}

/** By name: the parameters of each kind of fault, and what it does. */
export const faultKinds = {
  'rest-status': Type.Object(
    { ...target, status: failure, headers, message: Type.Optional(Type.String({ maxLength: 500 })) },
    { ...closed, description: 'A REST route responds with this status and does nothing.' },
  ),
  'rate-limited': Type.Object(
    {
      ...target,
      limit: Type.Union([Type.Literal('primary'), Type.Literal('secondary')], {
        description: 'The limit that the response reports as exceeded.',
      }),
      status: Type.Optional(Type.Union([Type.Literal(403), Type.Literal(429)], { description: 'Default 403.' })),
      retryAfter: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 86_400, description: 'Seconds in `retry-after`; absent: no header.' }),
      ),
    },
    { ...closed, description: "A REST route refuses with the text and headers of GitHub's primary or secondary rate limit." },
  ),
  'web-status': Type.Object(
    { ...target, status: failure, headers },
    { ...closed, description: 'A page or an OAuth endpoint responds with this status and an HTML page and does nothing.' },
  ),
  'git-status': Type.Object(
    { ...target, status: failure, headers },
    { ...closed, description: 'Git over HTTP responds with this status in plain text and transfers nothing.' },
  ),
  'slow-answer': Type.Object(
    {
      ...target,
      milliseconds,
      when: Type.Optional(
        Type.Union([Type.Literal('before'), Type.Literal('after')], {
          description: 'Delay before the request is handled (default), or after it, when it has already had its effect.',
        }),
      ),
    },
    { ...closed, description: 'The response is delayed. Applies to every request except those of the control API.' },
  ),
  'slow-body': Type.Object(
    { ...target, bytesPerSecond: Type.Integer({ minimum: 1, maximum: 1_000_000 }) },
    { ...closed, description: 'The headers of the response are sent at once, its body at this speed.' },
  ),
  reset: Type.Object(
    {
      ...target,
      when: Type.Union([Type.Literal('before'), Type.Literal('after'), Type.Literal('during')], {
        description: 'Before the request has an effect, after it, or in the middle of the response body.',
      }),
      bytes: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000_000,
          description:
            'For `during`: after this many bytes of the body (default 0: headers only). A shorter body is cut at its end.',
        }),
      ),
    },
    {
      ...closed,
      description: 'The connection is reset (TCP RST) instead of a response, also for git: `during` breaks a pack in the middle.',
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
        'The clock of the emulator is wrong until the fault is disarmed: the Date header, the check of App JWTs, the expiry of tokens and all timestamps.',
    },
  ),
  'wider-token': Type.Object(
    {},
    {
      ...closed,
      description: 'A new installation token has all permissions and repositories of the installation, whatever was requested.',
    },
  ),
  'fresh-token-refused': Type.Object(
    {
      status: Type.Union([Type.Literal(401), Type.Literal(403)], {
        description: '401: the token is not replicated yet; 403: its permissions are not replicated yet.',
      }),
      uses: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          description: 'How many uses of the token are refused (default 1) before it works.',
        }),
      ),
    },
    { ...closed, description: 'REST and git refuse a new installation token at first.' },
  ),
  'merge-not-tested': Type.Object(
    {},
    {
      ...closed,
      description: 'A request for a pull request does not cause the test of its mergeability: `mergeable` stays null.',
    },
  ),
  'token-revoked': Type.Object(target, {
    ...closed,
    description: 'The token of a request is revoked just before the request is handled.',
  }),
  'installation-suspended': Type.Object(target, {
    ...closed,
    description:
      'The installation of a request (that of its token, or the one in its path) is suspended just before the request is handled.',
  }),
  'lost-webhook': Type.Object(
    {
      ...subject,
      record: Type.Optional(
        Type.Union([Type.Literal('nothing'), Type.Literal('failure'), Type.Literal('success')], {
          description: 'What the list of deliveries shows: nothing (default), a failure, or a success.',
        }),
      ),
    },
    { ...closed, description: 'A webhook delivery is not sent.' },
  ),
  'doubled-webhook': Type.Object(
    {
      ...subject,
      newGuid: Type.Optional(Type.Boolean({ description: 'The second delivery has its own GUID (default: the same GUID).' })),
    },
    { ...closed, description: 'A webhook is delivered twice.' },
  ),
  'late-webhook': Type.Object(
    { ...subject, milliseconds },
    { ...closed, description: 'A webhook is delivered this much later; later ones overtake it.' },
  ),
  'reordered-webhook': Type.Object(
    { ...subject, milliseconds: Type.Optional(milliseconds) },
    {
      ...closed,
      description: 'A webhook is held back until the next one of its hook is sent, or for this long (default 2000 milliseconds).',
    },
  ),
} as const

type Kinds = typeof faultKinds
export type FaultKind = keyof Kinds

/** A fault to arm: its kind and the parameters of that kind. */
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

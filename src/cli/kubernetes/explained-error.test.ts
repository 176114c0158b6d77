import { expect, test } from 'vitest'
import { deployments } from '../../api/builtin/index.ts'
import { errorFromStatus, KubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import { explained } from './explained-error.ts'
import { applications } from './kinds.ts'

const destination = { server: 'https://10.0.0.1:6443', context: 'acme', namespace: 'acme', signsInWithUs: true }

function refusal(status: number, message: string): KubeError {
  return errorFromStatus(
    'patch Application acme/shop',
    applications,
    { message, reason: 'X' },
    { status, waitSeconds: undefined },
  )
}

function unreachable(code: string): KubeError {
  const cause = new Error('fetch failed', { cause: Object.assign(new Error('x'), { code }) })
  return new KubeError('get', { status: 0, reason: 'Unreachable', cause })
}

const forbidden = (verb: string, resource: string, group: string): string =>
  `${resource}.${group} "x" is forbidden: User "github|github.com|7" cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "acme"`

test.each([
  [
    'nobody listens',
    unreachable('ECONNREFUSED'),
    'unavailable',
    /10\.0\.0\.1:6443 does not answer \(ECONNREFUSED\).*--context \(now acme\)/,
  ],
  [
    'an authority that is not known',
    unreachable('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    'unavailable',
    /authority that context acme does not name: run sekisho kubeconfig/,
  ],
  ['another host name', unreachable('ERR_TLS_CERT_ALTNAME_INVALID'), 'unavailable', /for another host name/],
  ['an expired sign-in', refusal(401, 'Unauthorized'), 'unauthenticated', /run sekisho login$/],
  [
    'a right that developers have',
    refusal(403, forbidden('patch', 'applications', 'apps.sekisho.dev')),
    'forbidden',
    /may not change applications in acme: it takes the role developer/,
  ],
  [
    'a right that viewers have',
    refusal(403, forbidden('list', 'pods', '')),
    'forbidden',
    /may not list pods in acme: it takes the role viewer/,
  ],
  [
    'a right that nobody has',
    refusal(403, forbidden('get', 'secrets', '')),
    'forbidden',
    /may not read secrets in acme: no role of a tenant allows it/,
  ],
  [
    'a right in the namespace of the platform',
    refusal(403, forbidden('list', 'halts', 'github.sekisho.dev').replace('"acme"', '"sekisho-system"')),
    'forbidden',
    /may not list halts in sekisho-system, the namespace of the platform: its admins may$/,
  ],
  [
    'a quota',
    refusal(403, 'pods "x" is forbidden: exceeded quota: pods, used 5, limited 5'),
    'forbidden',
    /^pods "x" is forbidden: exceeded quota/,
  ],
  [
    'a policy',
    refusal(422, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: domains may not be set"),
    'invalid_request',
    /^domains may not be set$/,
  ],
  ['our webhook', refusal(403, 'admission webhook "w.sekisho.dev" denied the request: not yours'), 'forbidden', /^not yours$/],
  ['a conflict', refusal(409, 'the object has been modified'), 'conflict', /^the object has been modified$/],
  [
    'a cluster without our kinds',
    refusal(404, 'the server could not find the requested resource'),
    'not_found',
    /is context acme a Sekisho platform/,
  ],
  ['a failure of the server', refusal(500, 'etcd'), 'unavailable', /etcd/],
] as const)('%s', async (_, error, code, text) => {
  const found = await explained(error, destination)
  expect(found).toBeInstanceOf(AppError)
  expect(found).toMatchObject({ code, message: expect.stringMatching(text) })
})

test('the credentials of another plugin are not renewed by our login, and other errors stay what they are', async () => {
  const found = await explained(refusal(401, 'Unauthorized'), { ...destination, signsInWithUs: false })
  expect(found).toMatchObject({ message: expect.stringContaining('does not accept the credentials of context acme') })
  const other = new Error(deployments.kind)
  expect(await explained(other, destination)).toBe(other)
})

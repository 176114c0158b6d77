// The SubjectAccessReviews of the bench, in the form and size in which the API server sends them: of a person with 40 groups,
// of a ServiceAccount, of the platform; about Secrets with and without a name, and the namespace of the platform.
import type { PlannedRequest } from '../load/planned-request.ts'

const person = {
  user: 'github|github.com|583231',
  groups: [
    ...Array.from({ length: 39 }, (_, index) => `github|github.com|org|9919|team|${1000 + index}`),
    'system:authenticated',
  ],
  uid: '583231',
  extra: { 'sekisho.dev/login': ['octocat'] },
}
const account = (namespace: string, name: string): object => ({
  user: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  uid: '6e1f8b1c-5f4a-4a5e-9a37-0a8a1e5a9c11',
  extra: { 'authentication.kubernetes.io/credential-id': ['JTI=0b2f1a3c-9d7e-4f4b-8f0e-2c5d7a9b1e3f'] },
})

type Case = { readonly who: object; readonly asks: object; readonly denied: boolean }

const secret = { version: 'v1', resource: 'secrets', namespace: 'acme-shop' }
const cases: readonly Case[] = [
  { who: person, asks: { ...secret, verb: 'get', name: 'shop-database' }, denied: false },
  { who: person, asks: { ...secret, verb: 'get', name: 'appsecret-shop' }, denied: true },
  { who: account('tools', 'helm'), asks: { ...secret, verb: 'list' }, denied: true },
  { who: account('tools', 'operator'), asks: { ...secret, verb: 'patch', name: 'operator-state' }, denied: false },
  {
    who: account('tools', 'dashboard'),
    asks: { verb: 'list', version: 'v1', resource: 'pods', namespace: 'sekisho-system' },
    denied: true,
  },
  { who: account('kube-system', 'namespace-controller'), asks: { ...secret, verb: 'deletecollection' }, denied: false },
]

/** One request for each case, with the answer that every correct authorizer returns. */
export function plannedReviews(): readonly PlannedRequest[] {
  return cases.map(({ who, asks, denied }) => {
    const spec = { resourceAttributes: asks, ...who }
    const review = {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: { creationTimestamp: null },
      spec,
      status: { allowed: false },
    }
    return {
      path: '/authorize?timeout=3s',
      headers: { 'content-type': 'application/json', accept: 'application/json, */*', 'user-agent': 'kube-apiserver' },
      body: Buffer.from(JSON.stringify(review)).toString('base64'),
      expectedStatus: 200,
      expectedText: denied ? '"denied":true' : '"status":{"allowed":false}',
    }
  })
}

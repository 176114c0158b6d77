import { expect, test } from 'vitest'
import { chooseNamespace } from './kubeconfig.ts'
import { greetingOf } from './login.ts'

const issuer = 'https://sekisho.example.com'
const person = { subject: 'github|github.com|7', login: 'dave', groups: [], platformAdmin: false }
const acme = { name: 'acme', namespace: 'acme', role: 'developer' }
const globex = { name: 'globex', namespace: 'globex', role: 'viewer' }

test.each([
  [{ ...person, tenants: [acme] }, 'as dave, developer of acme. Next: sekisho kubeconfig writes a context'],
  [{ ...person, tenants: [acme, globex] }, 'developer of acme, viewer of globex. Next: sekisho kubeconfig --namespace acme'],
  [{ ...person, tenants: [] }, 'without a role in any tenant. Next: an owner of your GitHub organization opens https://sekisho'],
  [{ ...person, tenants: [], platformAdmin: true }, 'platform admin. Next:'],
])('login says who signed in and what comes next: %#', (who, text) => {
  expect(greetingOf(who, issuer)).toContain(text)
})

test.each([
  [undefined, ['acme'], 'acme', 'namespace acme'],
  [undefined, ['acme', 'globex'], undefined, '--namespace acme or globex'],
  [undefined, undefined, undefined, ''],
  ['acme', ['acme'], 'acme', ''],
  ['acne', ['acme'], 'acne', 'you have no role in acne: you have one in acme; did you mean acme?'],
  ['anything', undefined, 'anything', ''],
])('kubeconfig: given %s with tenants %j it writes %s', (given, own, namespace, hint) => {
  const chosen = chooseNamespace(given, own)
  expect(chosen.namespace).toBe(namespace)
  expect(chosen.hint).toContain(hint)
})

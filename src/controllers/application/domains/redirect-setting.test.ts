// What SEKISHO_REDIRECT_ANNOTATIONS may say, and that each refusal names the variable and the cure.
import { expect, test } from 'vitest'
import { readSettings } from '../../../lib/config.ts'
import { redirectAnnotationsSetting } from './redirect-setting.ts'

function read(text?: string) {
  const environment = text === undefined ? {} : { SEKISHO_REDIRECT_ANNOTATIONS: text }
  return readSettings({ annotations: redirectAnnotationsSetting }, environment).annotations
}

test('nothing is redirected by default', () => {
  expect(read()).toEqual([])
  expect(read(' ')).toEqual([])
})

test.each<[string, string, readonly (readonly [string, string])[]]>([
  [
    'Traefik, with a list of middlewares',
    'traefik.ingress.kubernetes.io/router.middlewares=sekisho-system-www@kubernetescrd,sekisho-system-b@kubernetescrd',
    [['traefik.ingress.kubernetes.io/router.middlewares', 'sekisho-system-www@kubernetescrd,sekisho-system-b@kubernetescrd']],
  ],
  [
    'HAProxy, with two annotations',
    'haproxy.org/request-redirect={to}, haproxy.org/request-redirect-code=301',
    [
      ['haproxy.org/request-redirect', '{to}'],
      ['haproxy.org/request-redirect-code', '301'],
    ],
  ],
  [
    'ingress-nginx, with its own variables',
    `nginx.ingress.kubernetes.io/permanent-redirect=https://{to}$request_uri?from=$\{host}`,
    [['nginx.ingress.kubernetes.io/permanent-redirect', `https://{to}$request_uri?from=$\{host}`]],
  ],
])('the annotations of %s are read', (_what, text, annotations) => {
  expect(read(text)).toEqual(annotations)
})

test.each<[string, string, string]>([
  ['a key alone', 'a.test/bc', 'must hold only annotations such as'],
  ['a key without a prefix', 'redirect=true', 'must hold only annotations such as'],
  ['a second one without a prefix', 'a.test/b=c,redirect=true', 'holds redirect=true'],
  ['a key that is none', 'a.test/b c=d', 'must hold only annotations such as'],
  ['an empty value', 'a.test/b=', 'must hold only annotations such as'],
  ['a key of the platform', 'sekisho.dev/application=x', 'which the platform itself sets or forbids'],
  ['the ingress class', 'kubernetes.io/ingress.class=internal', 'which the platform itself sets or forbids'],
  ['an issuer of certificates', 'cert-manager.io/cluster-issuer=x', 'which the platform itself sets or forbids'],
  ['another placeholder', 'a.test/b=https://{host}/', 'holds {host} in a.test/b; the only placeholder is {to}'],
  ['a key twice', 'a.test/b=c,a.test/b=d', 'holds a.test/b twice'],
  ['a value that is too long', `a.test/b=${'x'.repeat(1025)}`, 'at most 1024 characters'],
  ['a line break', 'a.test/b=c\nd', 'characters of ASCII'],
  ['too many', Array.from({ length: 11 }, (_, n) => `a.test/b${n}=c`).join(','), 'at most 10'],
])('%s is refused with the variable and the cure', (_what, text, words) => {
  expect(() => read(text)).toThrow(words)
  expect(() => read(text)).toThrow('SEKISHO_REDIRECT_ANNOTATIONS')
})

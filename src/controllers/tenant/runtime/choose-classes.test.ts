// The RuntimeClasses of a tenant: whose choice counts, what the namespaces say, and which class cannot be used.
import { expect, test } from 'vitest'
import { noClasses } from '../../../../test/fixtures/runtime-classes.ts'
import type { RuntimeClass, Toleration } from '../../../api/builtin/index.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { readSettings } from '../../../lib/config.ts'
import { chosenClasses, classesInForce, classMarks, classNames, classProblem } from './choose-classes.ts'
import { runtimeSettings } from './runtime-settings.ts'

const tenantOf = (classes: Partial<Tenant['spec']>): Pick<Tenant, 'spec'> => ({
  spec: {
    account: { host: 'github.localhost', id: 2001, login: 'acme', type: 'Organization' },
    namespace: 'acme',
    roles: [],
    ...classes,
  },
})
const runtimeClass = (name: string, ...tolerations: readonly Toleration[]): RuntimeClass => ({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name },
  handler: name,
  scheduling: { tolerations },
})
const all = [
  runtimeClass('kata', { key: 'kata', operator: 'Exists' }, { key: 'dedicated', value: 'kata', effect: 'NoSchedule' }),
  runtimeClass('gvisor'),
  runtimeClass('all', { operator: 'Exists' }),
  runtimeClass('drained', { key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }),
]
const classes = new Map(all.map(one => [one.metadata.name, one]))
const classOf = (name: string) => classes.get(name)
const chosen = (spec: Partial<Tenant['spec']>, defaults: Partial<typeof noClasses> | object = {}) =>
  chosenClasses(tenantOf(spec), { ...noClasses, ...defaults })

test.each([
  ['nobody chose', {}, {}, {}],
  ['the Tenant', { runtimeClass: 'kata' }, {}, { applications: 'kata', isolated: 'kata', builds: 'kata' }],
  ['the platform', {}, { runtimeClass: 'gvisor' }, { applications: 'gvisor', isolated: 'gvisor', builds: 'gvisor' }],
  [
    'the Tenant before the platform',
    { runtimeClass: 'kata' },
    { runtimeClass: 'gvisor' },
    { applications: 'kata', isolated: 'kata', builds: 'kata' },
  ],
  ['isolated Applications alone', { isolatedRuntimeClass: 'kata' }, {}, { isolated: 'kata' }],
  [
    'each of its own',
    { buildRuntimeClass: 'kata' },
    { runtimeClass: 'gvisor', isolatedRuntimeClass: 'kata', buildRuntimeClass: 'gvisor' },
    { applications: 'gvisor', isolated: 'kata', builds: 'kata' },
  ],
  [
    'the Tenant for all pods before the platform for some',
    { runtimeClass: 'kata' },
    { isolatedRuntimeClass: 'gvisor', buildRuntimeClass: 'runc' },
    { applications: 'kata', isolated: 'kata', builds: 'kata' },
  ],
])('who chooses: %s', (_, spec, defaults, expected) => {
  expect(classNames(chosen(spec, defaults))).toEqual(expected)
})

test('the namespaces name the classes and the taints of their nodes', () => {
  expect(classMarks(chosen({}), classOf)).toEqual({
    application: { labels: {}, annotations: {} },
    build: { labels: {}, annotations: {} },
  })
  expect(classMarks(chosen({ isolatedRuntimeClass: 'kata', buildRuntimeClass: 'gvisor' }), classOf)).toEqual({
    application: {
      labels: { 'sekisho.dev/runtime-class': '', 'sekisho.dev/isolated-runtime-class': 'kata' },
      annotations: {
        'sekisho.dev/runtime-class-tolerations': '',
        'sekisho.dev/isolated-runtime-class-tolerations': 'dedicated|Equal|kata|NoSchedule,kata|Exists||',
      },
    },
    build: { labels: { 'sekisho.dev/runtime-class': 'gvisor' }, annotations: { 'sekisho.dev/runtime-class-tolerations': '' } },
  })
})

test('a class that cannot be used is named with whoever names it; the namespaces name it nevertheless, so that no pod runs without it', () => {
  expect(classProblem(chosen({ runtimeClass: 'kata' }), classOf)).toBeUndefined()
  expect(classProblem(chosen({ runtimeClass: 'gone' }), classOf)).toMatch(
    /^there is no RuntimeClass gone, which spec\.runtimeClass names/,
  )
  expect(classProblem(chosen({}, { buildRuntimeClass: 'gone' }), classOf)).toMatch(/which SEKISHO_BUILD_RUNTIME_CLASS names/)
  expect(classProblem(chosen({ isolatedRuntimeClass: 'all' }), classOf)).toMatch(/tolerates taints of any key/)
  expect(classProblem(chosen({ runtimeClass: 'drained' }), classOf)).toMatch(/nodes that are being drained/)
  expect(classMarks(chosen({ runtimeClass: 'gone' }), classOf).build.labels).toEqual({ 'sekisho.dev/runtime-class': 'gone' })
})

test('a place whose class cannot be used keeps what it had, and the others have theirs', () => {
  const half = chosen({ runtimeClass: 'kata', isolatedRuntimeClass: 'gone' })
  expect(classesInForce(half, classOf)).toEqual({ applications: 'kata', builds: 'kata' })
  const before = { applications: 'gvisor', isolated: 'gvisor', builds: 'gvisor' }
  expect(classesInForce(half, classOf, before)).toEqual({ applications: 'kata', isolated: 'gvisor', builds: 'kata' })
  expect(classesInForce(chosen({}), classOf, before)).toEqual({})
})

test('a name that no label can hold is refused', () => {
  expect(() => readSettings(runtimeSettings, { SEKISHO_RUNTIME_CLASS: 'Kata' })).toThrow(/SEKISHO_RUNTIME_CLASS/)
  expect(readSettings(runtimeSettings, { SEKISHO_RUNTIME_CLASS: 'kata.fc' }).runtimeClass).toBe('kata.fc')
})

// A database on a shared server, its credential, and an application that uses it: they come, the credential is replaced, writes
// end and come back, and what the objects say is deleted or kept. At the end the server itself is asked: what it has, that the
// delivered credential lets in, and that the application's row is the one that it stored.
import { serviceBinding } from '../../../src/api/services/service-binding.ts'
import { serviceClass } from '../../../src/api/services/service-class.ts'
import { serviceInstance } from '../../../src/api/services/service-instance.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type Environment, fieldManager } from '../environment/environment.ts'
import { enrol, offer } from '../environment/services.ts'
import type { TenantsServer } from '../environment/tenants-server.ts'
import type { Scenario } from '../scenario.ts'
import {
  bind,
  deleteBoth,
  deleteClass,
  heldBy,
  isDelivered,
  isOffered,
  replaceCredential,
  rotationClockRate,
} from './services.ts'
import { ready } from './waits.ts'

function serverOf({ databases }: Environment): TenantsServer {
  if (databases === undefined) throw new Error('the environment has no server of databases')
  return databases
}

const enrolled = (environment: Environment): Promise<void> => enrol(environment, serverOf(environment).account)

function offerDatabases(environment: Environment): Promise<void> {
  const { address } = serverOf(environment)
  const postgresql = { ...address, adminSecret: { name: environment.prefix }, tls: { mode: 'Disable' } }
  const plans = [
    { name: 'small', default: true, limits: { connections: 5, storage: '1Gi' } },
    // Less than an empty database takes.
    { name: 'tiny', limits: { connections: 5, storage: '1Mi' } },
  ]
  const credentials = { overlapMinutes: 5 }
  return offer(environment, { type: 'postgresql', provider: { postgresql }, plans, credentials, extensions: ['citext'] })
}

type End = 'Keep' | 'Delete'

/** Resolves when the application could begin. */
async function have(environment: Environment, whenDeleted: End): Promise<void> {
  const parameters = { postgresql: { extensions: ['citext'] } }
  const spec = { class: environment.prefix, whenDeleted, parameters }
  await Promise.all([environment.apply(serviceInstance, 'db', { spec }), bind(environment, 'ServiceInstance', 'db')])
  await ready(environment, serviceInstance, 'db', 'Provisioned')
  await isDelivered(environment)
}

/** As the application, with what the Secret holds; undefined without one. */
async function asApplication(environment: Environment, sql: (login: string) => string): Promise<unknown> {
  const held = await heldBy(environment)
  if (held === undefined) return undefined
  const login = { name: held.textOf('username'), password: held.textOf('password') }
  return serverOf(environment).as(login, held.textOf('database'), sql(login.name))
}

/** A table with a row. The right that its owner gives to the login itself keeps that from being dropped without more. */
async function storeRow(environment: Environment): Promise<void> {
  const table = "CREATE TABLE kept AS SELECT 'by the application' AS what"
  await asApplication(environment, login => `${table}; GRANT SELECT ON kept TO "${login}"`)
}

const used =
  (whenDeleted: End) =>
  async (environment: Environment): Promise<void> => {
    await enrolled(environment)
    await offerDatabases(environment)
    await isOffered(environment)
    await have(environment, whenDeleted)
    await storeRow(environment)
  }

const shared = {
  environment: { component: 'data-services', namespace: 'made', github: 'none', services: 'databases' },
  shortPoints: /database:/,
  compares: [serviceClass, serviceInstance, serviceBinding],
  async more(environment: Environment): Promise<unknown> {
    const rows = await asApplication(environment, () => 'SELECT what FROM kept')
    return { version: (await heldBy(environment))?.version, rows, contents: await serverOf(environment).contents() }
  },
} as const

export const databaseScenario: Scenario = {
  ...shared,
  name: 'database: class, instance and credential',
  controllers: ['service-class', 'service-instance', 'service-binding'],
  prepare: enrolled,
  async act(environment) {
    await offerDatabases(environment)
    await have(environment, 'Delete')
    await storeRow(environment)
  },
}

export const databaseRotation: Scenario = {
  ...shared,
  name: 'database: replace the credential',
  controllers: ['service-binding'],
  prepare: used('Delete'),
  clockRate: rotationClockRate,
  act: replaceCredential,
}

/** In the rights of a table: to read, delete and truncate. */
const mayOnlyRemove = '=rdD/'

export const databaseWritesEnd: Scenario = {
  ...shared,
  name: 'database: over its plan, and back',
  clockRate: rotationClockRate,
  controllers: ['service-instance'],
  prepare: used('Delete'),
  async act(environment) {
    const { fixture, namespace } = environment
    const choose = (plan: string): Promise<unknown> =>
      fixture.kube.mergePatch(serviceInstance, { namespace, name: 'db' }, { spec: { plan } }, { fieldManager })
    await choose('tiny')
    await ready(environment, serviceInstance, 'db', 'WritesEnded')
    // The condition says what is being done: a crash before it was done would leave another end to compare.
    await waitUntil(
      'writes to have ended on the server',
      async seen => seen(await serverOf(environment).contents()).some(line => line.includes(mayOnlyRemove)),
      { timeoutMilliseconds: limits.minutes },
    )
    await choose('small')
    await ready(environment, serviceInstance, 'db', 'Provisioned')
  },
}

export const databaseDeletion: Scenario = {
  ...shared,
  name: 'database: delete',
  controllers: ['service-class', 'service-instance', 'service-binding'],
  prepare: used('Delete'),
  async act(environment) {
    await deleteBoth(environment, serviceInstance, 'db')
    await deleteClass(environment)
  },
}

export const databaseKept: Scenario = {
  ...shared,
  name: 'database: keep, and find it again',
  controllers: ['service-instance', 'service-binding'],
  prepare: used('Keep'),
  async act(environment) {
    await deleteBoth(environment, serviceInstance, 'db')
    await have(environment, 'Keep')
  },
}

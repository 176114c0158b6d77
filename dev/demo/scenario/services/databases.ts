// A database of the tenant's own: applied together with the Application that uses it, with a password that nobody sees and that
// is replaced while orders come in. Another tenant's credential is refused by the server itself.
import { join } from 'node:path'
import { bindingSecretName } from '../../../../src/api/services/binding-secret.ts'
import type { ServiceBinding } from '../../../../src/api/services/service-binding.ts'
import type { ServiceInstance } from '../../../../src/api/services/service-instance.ts'
import { limits } from '../../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { type DemoContext, neighbourNamespace, tenantNamespace } from '../../context.ts'
import { pushExample } from '../../push.ts'
import { expectThat, type Step } from '../../steps.ts'
import { mustRun, type Person, run } from '../../tools.ts'
import { untilContains, untilDeployed } from '../deploy.ts'
import { joinNeighbour } from '../neighbour.ts'
import { ensureRepository } from '../repositories.ts'

export const application = 'orders'
const here = ['-n', tenantNamespace]
const neighbourInstance = 'demo-orders-db'
/** It runs in acme, with acme's credential, and tries a database of globex. */
const foreignScript = (database: string): string => `
const pg = require('pg')
const url = new URL(process.env.DATABASE_URL)
url.pathname = '/${database}'
const client = new pg.Client({ connectionString: url.href })
client.connect().then(() => { console.log('it let us in'); return client.end() }, error => console.log(error.code + ' ' + error.message))
`

export function databaseSteps(demo: DemoContext): readonly Step[] {
  const { dave, gary } = demo.people
  const kubectl = (who: Person, args: readonly string[], input?: string): Promise<string> =>
    mustRun(who, demo.tools.kubectl, args, input === undefined ? {} : { input })
  const url = () => urlOfOrders(demo)
  const binding = async (): Promise<ServiceBinding> => {
    const args = ['get', 'servicebindings', ...here, '-l', `sekisho.dev/application=${application}`, '-o', 'json']
    const { items }: { readonly items: readonly ServiceBinding[] } = JSON.parse(await kubectl(dave, args))
    const one = items.find(({ spec }) => spec.service.kind === 'ServiceInstance')
    expectThat(one !== undefined, `Application ${application} has no ServiceBinding`)
    return one
  }
  return [
    {
      title: 'dave applies a ServiceInstance and an Application that uses it; orders are stored seconds later',
      run: async () => {
        await ensureRepository(demo, application)
        const commit = await pushExample(demo, dave, { name: application, files: {}, message: 'orders' })
        await kubectl(dave, ['apply', '-k', join(demo.repository, 'deploy/examples', application)])
        await untilDeployed(demo, dave, { name: application, commit, seconds: limits.build / 1000 })
        const [address, what] = [await url(), `tea of ${new Date().toISOString()}`]
        await untilContains(dave, `${address}/version`, commit)
        await ordered(dave, address, what)
        await untilContains(dave, `${address}/orders`, what)
        return `${address}/orders has “${what}”`
      },
    },
    {
      title: 'dave, who made it, does not read the Secret with the password; the status has only the name of the login',
      run: async () => {
        const { metadata, status } = await binding()
        const secret = bindingSecretName(metadata.name)
        const { code, output, errors } = await run(dave, demo.tools.kubectl, ['get', `secret/${secret}`, ...here])
        expectThat(code !== 0 && /forbidden/i.test(errors), `dave reads the Secret: ${output}${errors}`)
        return `${secret}: forbidden; the status has version ${status?.version} of the login ${status?.principal}`
      },
    },
    {
      title: 'gary has a database in globex: the server refuses acme’s credential there',
      run: async () => {
        await joinNeighbour(demo)
        const manifest = { apiVersion: 'services.sekisho.dev/v1alpha1', kind: 'ServiceInstance' }
        const instance = {
          ...manifest,
          metadata: { name: neighbourInstance },
          spec: { class: 'postgresql', whenDeleted: 'Delete' },
        }
        const there = ['-n', neighbourNamespace]
        await kubectl(gary, ['apply', ...there, '-f', '-'], JSON.stringify(instance))
        await kubectl(gary, ['wait', '--for=condition=Ready', `serviceinstance/${neighbourInstance}`, ...there, '--timeout=60s'])
        const made: ServiceInstance = JSON.parse(
          await kubectl(gary, ['get', `serviceinstance/${neighbourInstance}`, ...there, '-o', 'json']),
        )
        const said = await inOrders(demo, dave, foreignScript(made.status?.externalId ?? ''))
        expectThat(/42501 permission denied for database/.test(said), `the server answered: ${said}`)
        await kubectl(gary, ['delete', `serviceinstance/${neighbourInstance}`, ...there])
        return said.trim()
      },
    },
    {
      title: 'dave asks for another credential while orders come in: the pods have it, and no order fails',
      run: async () => {
        const [address, before] = [await url(), await binding()]
        const rotate = new Date().toISOString().replace(/[.]\d+Z$/, 'Z')
        const patch = JSON.stringify({ spec: { rotate } })
        await kubectl(dave, ['patch', `servicebinding/${before.metadata.name}`, ...here, '--type=merge', '-p', patch])
        const started = performance.now()
        const count = await orderUntilReplaced(dave, address, before.status?.principal ?? '')
        const after = await binding()
        expectThat(after.status?.version !== before.status?.version, 'the version of the credential is as before')
        return `${count} orders in ${((performance.now() - started) / 1000).toFixed(1)} s, none failed; ${before.status?.principal} → ${after.status?.principal}`
      },
    },
  ]
}

export async function urlOfOrders({ people, tools }: DemoContext): Promise<string> {
  const args = ['get', `application/${application}`, ...here, '-o', 'jsonpath={.status.url}']
  return (await mustRun(people.dave, tools.kubectl, args)).trim()
}

/** Stores an order. @throws DemoFailure with the answer when it is not stored */
export async function ordered(who: Person, address: string, what: string): Promise<void> {
  const { code, output, errors } = await run(who, 'curl', [
    '--silent',
    '--show-error',
    '--fail-with-body',
    '--max-time',
    '10',
    '--data',
    what,
    `${address}/orders`,
  ])
  expectThat(code === 0, `an order was not stored: ${output} ${errors}`)
}

/** Orders one after the other, until the application says that its login is another one; resolves to their number. */
function orderUntilReplaced(who: Person, address: string, login: string): Promise<number> {
  let count = 0
  return waitUntil(
    'the pods to have another credential',
    async () => {
      await ordered(who, address, `number ${count}`)
      count += 1
      const { user } = JSON.parse(await untilContains(who, `${address}/version`, 'user')) as { readonly user: string }
      return user === login ? undefined : count
    },
    // A credential is replaced at the earliest a minute after it was issued.
    { timeoutMilliseconds: 2 * limits.rollout, everyMilliseconds: 20 },
  )
}

/** Runs a program of Node.js with the image and the credentials of the Application; resolves to its output. */
export function inOrders(demo: DemoContext, dave: Person, script: string): Promise<string> {
  return mustRun(dave, demo.tools.sekisho, ['run', application, '--', 'node', '-e', script])
}

// A pull request of the orders with a database of its own: what is ordered there is not in that of the shop, and the database
// goes with the preview.
import { join } from 'node:path'
import type { ServiceInstance } from '../../../../src/api/services/service-instance.ts'
import { limits } from '../../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { type DemoContext, tenantNamespace } from '../../context.ts'
import { pushExample } from '../../push.ts'
import { expectThat, type Step } from '../../steps.ts'
import { mustRun } from '../../tools.ts'
import { untilContains } from '../deploy.ts'
import { closeEarlier, type Origin, openPullRequest, pullRequestOf, untilNothingIsLeft } from '../pull-request.ts'
import { application, inOrders, ordered, urlOfOrders } from './databases.ts'

/** Every login of the server sees the names of its databases. */
const databasesScript = `
const pg = require('pg')
const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
client.connect().then(() => client.query('SELECT datname FROM pg_database')).then(({ rows }) => {
  console.log(rows.map(({ datname }) => datname).join(' '))
  return client.end()
})
`

export function servicePreviewSteps(demo: DemoContext): readonly Step[] {
  const { dave } = demo.people
  const origin: Origin = { who: dave, branch: 'demo-orders' }
  const instancesOf = async (number: number): Promise<readonly ServiceInstance[]> => {
    const selector = `sekisho.dev/app-pipeline=${application},sekisho.dev/pull-request=${number}`
    const args = ['get', 'serviceinstances', '-n', tenantNamespace, '-l', selector, '-o', 'json']
    return (JSON.parse(await mustRun(dave, demo.tools.kubectl, args)) as { readonly items: readonly ServiceInstance[] }).items
  }
  const databases = async (): Promise<readonly string[]> => (await inOrders(demo, dave, databasesScript)).trim().split(/\s+/)
  return [
    {
      title: 'dave opens a pull request of the orders: it has a database of its own, and nothing of it is left after closing',
      run: async () => {
        await closeEarlier(demo, origin, application)
        const example = join(demo.repository, 'deploy/examples', application, 'app-pipeline.yaml')
        await mustRun(dave, demo.tools.kubectl, ['apply', '-f', example])
        const what = `coffee of ${new Date().toISOString()}`
        const push = { name: application, files: { 'note.txt': what }, message: 'coffee', branch: origin.branch }
        const commit = await pushExample(demo, dave, push)
        const pull = pullRequestOf(demo, await openPullRequest(demo, origin, 'Coffee', application), application)
        const { url = '' } = await pull.untilState('Running', commit, limits.build / 1000)
        await ordered(dave, url, what)
        await untilContains(dave, `${url}/orders`, what)
        const others = await mustRun(dave, 'curl', ['--silent', '--fail', `${await urlOfOrders(demo)}/orders`])
        expectThat(!others.includes(what), 'the orders of the shop have that of the preview')
        const [instance] = await instancesOf(pull.number)
        const database = instance?.status?.externalId ?? ''
        expectThat((await databases()).includes(database), `the server has no database ${database}`)
        await pull.close()
        await untilNothingIsLeft(demo, { pipeline: application, number: pull.number })
        await waitUntil(
          `database ${database} to be gone`,
          async () => {
            const left = [...(await instancesOf(pull.number)).map(({ metadata }) => metadata.name), ...(await databases())]
            return left.length > 0 && !left.some(name => name === database || name === instance?.metadata.name)
          },
          { timeoutMilliseconds: limits.rollout },
        )
        return `#${pull.number}: ${url}/orders had “${what}” in ${database}, the shop's had not; the server has no such database any more`
      },
    },
  ]
}

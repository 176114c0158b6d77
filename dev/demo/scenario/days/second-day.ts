// Fourth part: an application developer's second day. A pnpm workspace with two applications, a push that concerns one of them,
// and a shell beside the running application.
import type { RemoteSync } from '../../../../src/api/apps/remote-sync.ts'
import { limits } from '../../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import type { DemoContext } from '../../context.ts'
import { pushExample } from '../../push.ts'
import { expectThat, type Step } from '../../steps.ts'
import { run } from '../../tools.ts'
import { readSync, untilContains, untilDeployed } from '../deploy.ts'
import { ensureRepository } from '../repositories.ts'
import { notesOf } from './notes.ts'

const applications = ['market-api', 'market-web'] as const

export function secondDaySteps(demo: DemoContext): readonly Step[] {
  // Not the price of an earlier run.
  const price = 300 + Math.floor(Math.random() * 10_000)
  return [
    {
      title:
        'olivia creates acme/market; dave pushes a pnpm workspace and applies two Applications of it; each URL serves its own',
      run: () => deployMarket(demo, price),
    },
    {
      title: 'dave changes one of the two: the other is not built',
      run: () => changeOne(demo, price),
    },
    {
      title:
        'dave opens a shell of market-api with his terminal: the released image, a pod of his own, the exit code is passed on',
      run: () => openShell(demo),
    },
  ]
}

function pushMarket(demo: DemoContext, price: number, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const message = `prices of ${new Date().toISOString()}`
  const prices = `export const prices = { tea: ${price} }\n\nexport function inYen(amount) {\n  return \`¥\${amount}\`\n}\n`
  return pushExample(demo, demo.people.dave, {
    name: 'market',
    message,
    files: { 'packages/prices/prices.js': prices, ...files },
  })
}

async function urlOf(demo: DemoContext, name: string): Promise<string> {
  const url = (await notesOf(demo).application(name)).status?.url
  expectThat(url !== undefined, `Application ${name} has no URL`)
  return url
}

async function deployMarket(demo: DemoContext, price: number): Promise<string> {
  const { dave } = demo.people
  await ensureRepository(demo, 'market')
  const commit = await pushMarket(demo, price)
  const { kubectl, example } = notesOf(demo)
  await kubectl(['apply', '-k', example('market')])
  const expected = { 'market-api': `"tea":${price}`, 'market-web': `tea: ¥${price}` }
  const lines: string[] = []
  for (const name of applications) {
    await untilDeployed(demo, dave, { name, commit, seconds: limits.build / 1000 })
    const url = await urlOf(demo, name)
    await untilContains(dave, `${url}/`, expected[name])
    lines.push(`${url}/ → 200 ${expected[name]}`)
  }
  return lines.join('\n')
}

function unbuiltIn({ status }: RemoteSync): string | undefined {
  return status?.conditions?.find(({ type, reason }) => type === 'Ready' && reason === 'PathsUnchanged')?.message
}

async function changeOne(demo: DemoContext, price: number): Promise<string> {
  const { dave } = demo.people
  const before = (await readSync(demo, dave, 'market-web')).status?.imageCommit
  const shown = `opened ${Date.now()}`
  const server = `import { createServer } from 'node:http'\n\ncreateServer((request, response) => response.end('${shown}')).listen(Number(process.env.PORT))\n`
  const commit = await pushMarket(demo, price, { 'apps/api/server.js': server })
  await untilDeployed(demo, dave, { name: 'market-api', commit, seconds: limits.build / 1000 })
  await untilContains(dave, `${await urlOf(demo, 'market-api')}/`, shown)
  const said = await waitUntil('market-web says that it was not built', async () => {
    const message = unbuiltIn(await readSync(demo, dave, 'market-web'))
    if (message === undefined) throw new Error('it does not')
    return message
  })
  expectThat((await readSync(demo, dave, 'market-web')).status?.imageCommit === before, 'market-web was built again')
  return `market-web: ${said}`
}

/** With a terminal of its own, as a person has it (script of util-linux). */
async function openShell(demo: DemoContext): Promise<string> {
  const { dave } = demo.people
  const shell = await run(
    dave,
    'script',
    ['--quiet', '--return', '--command', `${demo.tools.sekisho} shell market-api`, '/dev/null'],
    { input: 'tty && ls; exit 7\n' },
  )
  expectThat(shell.code === 7, `the exit code is ${shell.code}: ${shell.output} ${shell.errors}`)
  expectThat(shell.output.includes('/dev/pts/'), `there is no terminal: ${shell.output}`)
  // In the root of the workspace there is none.
  expectThat(shell.output.includes('server.js'), `the image or the folder is another: ${shell.output}`)
  return 'exit code 7 of the shell; server.js of apps/api in the image was listed'
}

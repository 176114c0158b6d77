// Sixth part: a token leaked. Whose it was, a stop that holds, who could reach the repository and who did, and a log that proves
// it on a computer that never saw the platform.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Halt } from '../../../src/api/github/halt.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { Browser } from '../browser.ts'
import { type DemoContext, tenantNamespace } from '../context.ts'
import { expectThat, type Step } from '../steps.ts'
import { mustRun, type Person, person } from '../tools.ts'
import { probePod } from './tokens/token-probe.ts'

/** What `sekisho tokens show -o json` and `sekisho access … -o json` say, as far as it is looked at. */
type Life = { readonly login?: string; readonly rule?: string; readonly deliveries: readonly { readonly pod?: string }[] } & {
  readonly end?: { readonly cause: string }
}
type Access = {
  readonly could: readonly { readonly grant: string; readonly login?: string }[]
  readonly did: readonly { readonly pod?: string; readonly grant: string; readonly times: number }[]
}

export function oversightSteps(demo: DemoContext): readonly Step[] {
  const { dave, olivia, ada } = demo.people
  const { sekisho, kubectl } = demo.tools
  const asked = async <T>(who: Person, args: readonly string[]): Promise<T> =>
    JSON.parse(await mustRun(who, sekisho, [...args, '-o', 'json'])) as T
  let leaked = ''
  return [
    {
      title: 'a token leaked: olivia learns from its SHA-256 which pod received it, in whose name and by which rule',
      run: async () => {
        const answers = await probePod(demo, dave)
        expectThat(answers !== undefined, 'the workload was refused a token')
        leaked = answers.hash
        const life = await asked<Life>(olivia, ['tokens', 'show', '--hash', leaked])
        const pods = life.deliveries.map(({ pod }) => pod)
        expectThat(pods.includes('demo-reader') && life.login === 'dave', `whose it is was not found: ${JSON.stringify(life)}`)
        expectThat(life.end === undefined, 'the token has ended already')
        return `${leaked}: pod ${pods.at(-1)}, in the name of ${life.login}, by the rule ${life.rule}`
      },
    },
    {
      title: 'olivia halts it: it is revoked at GitHub, its pod gets no other one; after resume it does',
      run: async () => {
        const halt = await asked<{ name: string; tokens?: { revoked: number; left: number } }>(olivia, [
          ...['halt', 'token', leaked, '--reason', 'the demo leaked it'],
        ])
        expectThat(halt.tokens?.revoked === 1 && halt.tokens.left === 0, `not revoked: ${JSON.stringify(halt)}`)
        expectThat((await probePod(demo, dave)) === undefined, 'the pod got another token')
        const { end } = await asked<Life>(olivia, ['tokens', 'show', '--hash', leaked])
        await lift(olivia, halt.name)
        const after = await probePod(demo, dave)
        expectThat(after !== undefined && after.hash !== leaked, 'after resume the pod got no token of its own')
        return `${halt.tokens.revoked} token revoked: ${end?.cause}`
      },
    },
    {
      title: 'olivia halts acme/shop: the RemoteSync that follows it gets no token until she resumes',
      run: async () => {
        const { name } = await asked<{ name: string }>(olivia, ['halt', 'repository', 'acme/shop', '--reason', 'the demo looks'])
        const message = await waitUntil('the grant of the RemoteSync to be halted', () => readyOf('Halted'))
        await lift(olivia, name)
        await waitUntil('the grant of the RemoteSync to be ready again', () => readyOf('Ready'))
        return message
      },
    },
    {
      title: 'ada asks who could reach acme/shop in the last hour, and who did',
      run: async () => {
        const { could, did } = await asked<Access>(ada, ['access', 'repository', 'acme/shop', '--since', '1h'])
        const grants = could.map(({ grant }) => grant)
        expectThat(grants.includes('acme/demo-reader') && grants.length > 1, `who could is incomplete: ${grants}`)
        const pod = did.find(one => one.pod === 'demo-reader')
        expectThat(pod?.grant === 'acme/demo-reader', `who did is incomplete: ${JSON.stringify(did)}`)
        return `could: ${[...new Set(grants)].slice(0, 6).join(', ')}; did: ${did.length} workloads, demo-reader ${pod.times} times`
      },
    },
    {
      title: 'an export of the log verifies in the home of somebody who never saw the platform',
      run: async () => {
        const stranger = await person(
          { ...demo.tools, issuer: '', certificateAuthority: '' },
          'auditor',
          ada.environment['PATH'] ?? '',
        )
        const [file, keys] = ['audit.jsonl', 'jwks.json'].map(name => join(stranger.home, name))
        await writeFile(file ?? '', `${await mustRun(ada, sekisho, ['audit', 'export'])}\n`)
        const browser = new Browser({ certificateAuthority: demo.certificateAuthority })
        await writeFile(keys ?? '', (await browser.open(`${demo.tools.issuer}/oidc/jwks`)).html)
        await browser.close()
        return mustRun(stranger, sekisho, ['audit', 'verify', '--export', file ?? '', '--keys', keys ?? ''])
      },
    },
  ]

  /** Resolves to the message of the condition Ready when it has this reason, or is True for `Ready`. */
  async function readyOf(wanted: 'Halted' | 'Ready'): Promise<string | undefined> {
    const text = await mustRun(olivia, kubectl, ['get', 'repositorygrant/remotesync-shop', '-n', tenantNamespace, '-o', 'json'])
    const { status } = JSON.parse(text) as Pick<Halt, 'status'>
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    const isSo = wanted === 'Ready' ? ready?.status === 'True' : ready?.reason === wanted
    return isSo ? ready?.message || 'ready' : undefined
  }

  async function lift(who: Person, name: string): Promise<void> {
    await mustRun(who, sekisho, ['resume', name, '--reason', 'the demo goes on'])
    await mustRun(who, kubectl, ['wait', '--for=delete', `halt/${name}`, '-n', tenantNamespace, '--timeout=30s'])
  }
}

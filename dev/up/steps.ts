// The steps of `make up` that are the same on the local cluster and on one of the user's.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { messageOf } from '../../src/lib/errors.ts'
import { defined } from '../../src/lib/json/defined.ts'
import type { ClusterSettings } from '../cluster/settings.ts'
import type { ImageName } from '../images/recipes/catalog.ts'
import { githubHost, type LocalGitHub } from './github.ts'
import type { Kubectl } from './kubectl.ts'
import { deploymentsOf, type Mode } from './mode.ts'
import { podTrouble } from './rollout/pod-trouble.ts'
import { platformAdmin } from './settings-map.ts'

/**
 * Runs a step that has its own command line in its own process; its progress is shown at once, its standard output is the
 * result.
 */
export function runTool(settings: ClusterSettings, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: settings.repository, stdio: ['ignore', 'pipe', 'inherit'] })
    const output: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.on('error', reject)
    child.on('close', code => {
      if (code === 0) resolve(Buffer.concat(output).toString().trim())
      else reject(new Error(`${args[0]} failed with exit code ${code}; see its output above`))
    })
  })
}

/** The kinds, and the namespace of the platform. */
export async function applyFoundations(kubectl: Kubectl, { repository }: Pick<ClusterSettings, 'repository'>): Promise<void> {
  await kubectl.applyFolder(join(repository, 'deploy/crds'))
  await kubectl.run(
    ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '-l', 'app.kubernetes.io/part-of=sekisho'],
    70_000,
  )
  await kubectl.applyText(await readFile(join(repository, 'deploy/base/namespace.yaml'), 'utf8'))
}

/** The reference by digest: a changed image changes the Deployment, which replaces the pod. */
export async function buildPlatformImage(settings: ClusterSettings): Promise<string> {
  return (await pushedImages(settings, ['sekisho'])).sekisho
}

/** Builds and pushes images of this project; by name the references by digest. */
export async function pushedImages<Name extends ImageName>(
  settings: ClusterSettings,
  names: readonly Name[],
): Promise<Record<Name, string>> {
  const answer = JSON.parse(await runTool(settings, ['dev/images/main.ts', 'build', ...names, '--push', '-o', 'json'])) as {
    readonly name: string
    readonly pinned: string
  }[]
  const references = names.map(name => {
    const pinned = answer.find(image => image.name === name)?.pinned
    if (pinned === undefined) throw new Error(`the image builder printed no reference of ${name}`)
    return [name, pinned] as const
  })
  return Object.fromEntries(references) as Record<Name, string>
}

/** The App of the emulator. */
export async function applyGitHubApp(kubectl: Kubectl, github: LocalGitHub): Promise<void> {
  await kubectl.applyText(
    stringify({
      apiVersion: 'github.sekisho.dev/v1alpha1',
      kind: 'ClusterGitHubApp',
      metadata: { name: 'github' },
      spec: {
        host: githubHost,
        endpoints: { web: github.web, api: github.api, insecure: true },
        appId: github.appId,
        clientId: github.clientId,
        privateKeys: [{ secretName: 'github-app-key', key: 'private-key.pem' }],
      },
    }),
  )
}

/** Makes the user an admin exactly as docs/guide/install.md says. */
export async function bindPlatformAdmin(kubectl: Kubectl): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  await kubectl.applyText(
    stringify({
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'sekisho:platform-admin' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'sekisho:platform-admin' },
      subjects: [{ apiGroup, kind: 'User', name: platformAdmin.subject }],
    }),
  )
}

/** Resolves when the pods of the form, and of other Deployments beside it, are ready, and the platform reaches its GitHub. */
export async function rolledOut(kubectl: Kubectl, mode: Mode, githubApp: string, beside: readonly string[] = []): Promise<void> {
  for (const name of [...deploymentsOf[mode], ...beside])
    await kubectl
      .run(['rollout', 'status', `deployment/${name}`, '-n', 'sekisho-system', '--timeout=180s'], 190_000)
      .catch(async (cause: unknown) => {
        throw new Error(`the pods of ${name} are not ready: ${messageOf(cause)}\n${await podTrouble(kubectl)}`, { cause })
      })
  const objects = [`clustergithubapp/${githubApp}`, 'applicationchart/web']
  await kubectl.run(['wait', '--for=condition=Ready', ...objects, '--timeout=60s'], 70_000)
}

/** Whether the broker answers under its public URL; without an authority by those that everybody trusts. */
export async function issuerAnswers(issuerUrl: string, authority: string | undefined): Promise<true | undefined> {
  const { Agent, request } = await import('undici')
  const agent = new Agent({ connect: { ...defined({ ca: authority }), timeout: 3000 } })
  try {
    const answer = await request(`${issuerUrl}/.well-known/openid-configuration`, { dispatcher: agent })
    await answer.body.dump()
    return answer.statusCode === 200 ? true : undefined
  } finally {
    await agent.close()
  }
}

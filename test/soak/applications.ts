// Applications that a developer creates, changes and deletes. Records the expected state; uses only requests that kubectl would
// make.
import { randomInt } from 'node:crypto'
import type { PlatformInUse } from '../platform/open-platform.ts'
import { accepted, developer, namespace, paths } from './tenant.ts'

export type Applications = {
  readonly tick: () => Promise<void>
  /** The expected state: name to image. */
  readonly wanted: ReadonlyMap<string, string>
  readonly writes: () => number
  /** Seconds from an Application's creation until its Deployment existed, of some. */
  readonly delays: readonly number[]
}

const population = 40
const digit = (): string => randomInt(16).toString(16)
const image = (): string => `registry.example.com/soak@sha256:${Array.from({ length: 64 }, digit).join('')}`

export function createApplications(fixture: PlatformInUse, signal: AbortSignal): Applications {
  const wanted = new Map<string, string>()
  const delays: number[] = []
  let made = 0
  let writes = 0

  const write = async (what: string, method: string, path: string, body?: object): Promise<void> => {
    accepted(await fixture.people.as(developer, method, path, body), what)
    writes += 1
  }
  const any = (): string | undefined => [...wanted.keys()][randomInt(Math.max(1, wanted.size))]

  async function create(): Promise<void> {
    const name = `app-${++made}`
    const chosen = image()
    const spec = { image: chosen, processes: [{ name: 'web', port: 3000 }] }
    await write(`create ${name}`, 'POST', paths.applications, {
      apiVersion: 'apps.sekisho.dev/v1alpha1',
      kind: 'Application',
      metadata: { name, namespace },
      spec,
    })
    wanted.set(name, chosen)
    if (made % 10 === 0) await timeUntilDeployed(name)
  }

  async function timeUntilDeployed(name: string): Promise<void> {
    const began = performance.now()
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments?labelSelector=sekisho.dev/application=${name}`
    while (!signal.aborted && performance.now() - began < 120_000) {
      const { items } = (await fixture.admin.call('GET', path)) as { readonly items: readonly unknown[] }
      if (items.length > 0) break
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    delays.push((performance.now() - began) / 1000)
  }

  async function change(): Promise<void> {
    const name = any()
    if (name === undefined) return
    const chosen = image()
    await write(`change ${name}`, 'PATCH', `${paths.applications}/${name}`, { spec: { image: chosen } })
    wanted.set(name, chosen)
  }

  async function remove(): Promise<void> {
    const name = any()
    if (name === undefined) return
    await write(`delete ${name}`, 'DELETE', `${paths.applications}/${name}`)
    wanted.delete(name)
  }

  return {
    wanted,
    delays,
    writes: () => writes,
    async tick() {
      await create()
      await change()
      if (wanted.size > population) await remove()
    },
  }
}

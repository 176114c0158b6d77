// Requests an application through the ingress, once or repeatedly while something else happens.
import { request } from 'undici'
import type { AdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { list } from './objects.ts'

export type Answer = { readonly status: number; readonly text: string }

/** Connects to this machine: names below .localhost are loopback, whatever the resolver answers (RFC 6761 §6.3). */
export async function requestVersion(url: string, path = '/version'): Promise<Answer> {
  const { host, port } = new URL(url)
  const response = await request(`http://127.0.0.1:${port}${path}`, {
    headers: { host },
    headersTimeout: 5000,
    bodyTimeout: 5000,
  })
  return { status: response.statusCode, text: await response.body.text() }
}

export type Watch = {
  /** Ends the watch; throws with the failures unless at least `least` requests were sent and each was answered with 200. */
  readonly endServed: (least: number) => Promise<void>
  readonly end: () => Promise<void>
}

const time = (date: Date): string => date.toISOString().slice(11, 23)

/**
 * What the ingress controller could send requests to at this moment: the pods of the namespace with their addresses and how
 * ready they are.
 */
async function endpointsNow(admin: AdminClient): Promise<string> {
  const [slices, pods] = [await list(admin, 'endpointslice'), await list(admin, 'pod')]
  const endpoints = slices.map(
    ({ metadata, ...slice }) => `${metadata.name} ${JSON.stringify((slice as { endpoints?: unknown }).endpoints)}`,
  )
  const states = pods.map(({ metadata, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    return `${metadata.name} ${ready?.status} since ${ready?.lastTransitionTime}, deleted ${metadata.deletionTimestamp}`
  })
  return [...endpoints, ...states].join('\n')
}

/** The kubelet's failed probes of the last minutes. */
async function failedProbes(admin: AdminClient): Promise<string> {
  const events = await list(admin, 'event', `?fieldSelector=${encodeURIComponent('reason=Unhealthy')}`)
  return events.map(event => JSON.stringify(event).slice(0, 600)).join('\n')
}

/**
 * Waits until the URL answers 200 (the ingress controller follows a first rollout a moment later), then sends a request four
 * times a second until its end; every answer other than 200 is a failure.
 */
export async function watchServing(admin: AdminClient, url: string): Promise<Watch> {
  await waitUntil(`${url} answers 200`, async seen => seen(await requestVersion(url)).status === 200)
  const failures: string[] = []
  let endpoints = ''
  let requests = 0
  let on = true
  const began = new Date()
  const loop = (async () => {
    while (on) {
      requests += 1
      const sent = new Date()
      const answer = await requestVersion(url).catch((error: unknown) => ({ status: 0, text: String(error) }))
      if (answer.status !== 200) {
        failures.push(`${time(sent)} ${answer.status} ${answer.text.trim().slice(0, 60)} after ${Date.now() - sent.getTime()} ms`)
        if (failures.length === 1) endpoints = await endpointsNow(admin).catch(String)
      }
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  })()
  const end = async (): Promise<void> => {
    on = false
    await loop
  }
  return {
    end,
    async endServed(least) {
      await end()
      if (failures.length > 0) {
        const sent = `of ${requests} requests between ${time(began)} and ${time(new Date())}`
        const probes = await failedProbes(admin).catch(String)
        const when = `At the first:\n${endpoints}\nFailed probes:\n${probes}`
        throw new Error(`${failures.length} ${sent} failed: ${failures.join(', ')}\n${when}`)
      }
      if (requests < least) throw new Error(`only ${requests} requests were sent, not the ${least} that show something`)
    },
  }
}

// Deploys the hostile process as an Application of globex, as gary, and passes it what to try. The process runs in globex's own
// image with the limits of every application; its code travels in the arguments.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { request } from 'undici'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Probe, ProbeResult } from '../agent/probe.ts'

export type AgentPod = { readonly probe: (probe: Probe) => Promise<ProbeResult>; readonly name: string }

export const agentName = 'attack-agent'
const maxArgument = 4000
const patience = 15_000

/** Joins the arguments, takes the types away, and runs what is left. */
const start = [
  "const { gunzipSync } = require('node:zlib')",
  "const { stripTypeScriptTypes } = require('node:module')",
  "const source = gunzipSync(Buffer.from(process.argv.slice(1).join(''), 'base64')).toString()",
  "import('data:text/javascript;base64,' + Buffer.from(stripTypeScriptTypes(source)).toString('base64'))",
].join('\n')

/** The Application; the key is known to its tenant only, and to this run. */
export async function agentManifest(image: string, key: string): Promise<Record<string, unknown>> {
  const source = await readFile(join(import.meta.dirname, '../agent/agent.ts'), 'utf8')
  const code = gzipSync(source).toString('base64')
  const parts = code.match(new RegExp(`.{1,${maxArgument}}`, 'g')) ?? []
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: agentName },
    spec: {
      image,
      env: [{ name: 'ATTACK_KEY', value: key }],
      processes: [
        {
          name: 'web',
          command: ['/usr/local/bin/node', '-e', start],
          args: parts,
          port: 3000,
          healthPath: '/healthz',
          memory: '128Mi',
        },
      ],
    },
  }
}

export function newAgentKey(): string {
  return randomBytes(24).toString('base64url')
}

/** Waits until the process answers through the ingress at `url`, which is reached at `address`. */
export async function connectAgent(url: string, address: string, key: string): Promise<AgentPod> {
  const { host, port } = new URL(url)
  const probe = async (wanted: Probe): Promise<ProbeResult> => {
    const response = await request(`http://${address}:${port || 80}/`, {
      method: 'POST',
      headers: { host, 'x-attack-key': key },
      body: JSON.stringify(wanted),
      headersTimeout: patience,
      bodyTimeout: patience,
    })
    const text = await response.body.text()
    if (response.statusCode !== 200) throw new Error(`the pod of globex answers ${response.statusCode}: ${text.slice(0, 200)}`)
    return JSON.parse(text)
  }
  await waitUntil('the pod of globex to answer', () => probe({ kind: 'environment' }), { timeoutMilliseconds: limits.rollout })
  return { probe, name: agentName }
}

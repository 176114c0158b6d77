// How what is known about the walls is kept: one ConfigMap in the platform's namespace, from which the conditions of Tenants
// are made and with which a new leader goes on. Pure.
import { type ConfigMap, configMaps } from '../../api/builtin/index.ts'
import { wallRecord } from '../../api/wall-names.ts'
import { asObject, parseJson, textAt } from '../../lib/json/json-value.ts'
import type { Finding } from './finding.ts'
import { walls } from './walls.ts'

/** What the leader recorded last. */
export type WallRecord = { readonly findings: readonly Finding[] }

/** In etcd an object has 1.5 MB at most. */
const maxLines = 150

/** Undefined when nothing was recorded, or something that is not a record: then nothing is known. */
export function recordedWalls(record: ConfigMap | undefined): WallRecord | undefined {
  const text = record?.data?.['findings']
  if (text === undefined) return undefined
  const lines = text.split('\n').filter(line => line !== '')
  const findings = lines.map(readFinding)
  return findings.every(finding => finding !== undefined) ? { findings } : undefined
}

function readFinding(line: string): Finding | undefined {
  const read = asObject(parseJson(line))
  const wall = walls.find(({ name }) => name === textAt(read, 'wall'))?.name
  const verdict = (['Off', 'Unknown'] as const).find(one => one === textAt(read, 'verdict'))
  const text = textAt(read, 'text')
  const where = textAt(read, 'where')
  if (wall === undefined || verdict === undefined || text === undefined) return undefined
  return { wall, verdict, text, ...(where === undefined ? {} : { where }) }
}

/** As it is applied. `state` is for people, `findings` has one JSON object in each line. */
export function recordOf(findings: readonly Finding[]) {
  const { apiVersion, kind } = configMaps
  const state = findings.some(({ verdict }) => verdict === 'Off') ? 'Off' : findings.length > 0 ? 'Unknown' : 'Holds'
  const lines = findings
    .slice(0, maxLines)
    .map(({ wall, verdict, where, text }) => JSON.stringify({ wall, verdict, where, text }))
  return { apiVersion, kind, metadata: { ...wallRecord }, data: { state, findings: lines.join('\n') } }
}

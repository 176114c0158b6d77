// The status of an AppSecret: names, versions and times, never a value. Pure.
import { type AppSecret, appSecretReasons as reasons } from '../../api/apps/app-secret.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import type { Refusal } from '../../policy/check.ts'
import type { Versions } from './decide.ts'

export type AppSecretStatus = NonNullable<AppSecret['status']>

/** What a reconcile came to: the versions that the Secret has now, and why it is not up to date, if it is not. */
export type Observation = { readonly versions: Versions; readonly refusal: Refusal | undefined }

function readyCondition({ versions, refusal }: Observation): WantedCondition {
  if (refusal !== undefined) return { type: 'Ready', status: 'False', ...refusal }
  const count = Object.keys(versions.keys).length
  const message = `applications and builds get ${count} ${count === 1 ? 'value' : 'values'}, version ${versions.version}`
  return { type: 'Ready', status: 'True', reason: reasons.stored, message }
}

/** Equal to the status before when nothing changed, whatever `now` is. */
export function nextStatus(appSecret: AppSecret, observation: Observation, now: Date): AppSecretStatus {
  const { metadata, status: before } = appSecret
  const generation = metadata.generation ?? 1
  const { version, keys } = observation.versions
  const known = new Map((before?.keys ?? []).map(entry => [entry.name, entry]))
  return {
    observedGeneration: generation,
    conditions: mergeConditions(before?.conditions, [readyCondition(observation)], generation, now),
    version,
    keys: Object.entries(keys)
      .sort(([a], [b]) => compareText(a, b))
      .map(([name, changed]) => {
        const earlier = known.get(name)
        return earlier?.version === changed ? earlier : { name, version: changed, changedAt: now.toISOString() }
      }),
  }
}

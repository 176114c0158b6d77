// Opens the tags of the registries that the administrators listed: what is known of them, and who asks.
import type { Clock } from '../../lib/clock.ts'
import { type Part, partOf } from '../part.ts'
import type { FollowedRegistry } from './followed-registry.ts'
import { createTagReader } from './read-tag.ts'
import { createTagWatch, type TagWatch } from './tag-watch.ts'

/** The registries that may be asked, and what is known of their tags. */
export type FollowedTags = TagWatch & { readonly registries: readonly FollowedRegistry[] }

type Settings = { readonly followedRegistries: readonly FollowedRegistry[]; readonly followedTagSeconds: number }

/** It asks only for tags that somebody wants to know. */
export function openFollowedTags({
  settings,
  clock,
}: {
  readonly settings: Settings
  readonly clock: Clock
}): FollowedTags & Part {
  const { followedRegistries: registries, followedTagSeconds } = settings
  const reader = createTagReader(clock)
  const watch = createTagWatch({ read: reader.read, clock, everyMilliseconds: followedTagSeconds * 1000 })
  return { registries, ...watch, ...partOf({ start: () => {}, stop: reader.close }) }
}

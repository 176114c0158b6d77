// What is known about an Installation when it is decided: `gather` finds it out, the checks and the decision read it. Types only.
import type { Installation } from '../../api/github/installation.ts'
import type { InstallationFacts } from '../../github/index.ts'
import type { Unreachable } from '../kit/github-unreachable.ts'
import type { OtherApps } from './other-apps.ts'
import type { OwnerAnswer } from './owner-check.ts'

/** What GitHub has; `appId` is the id of the App that asked. */
export type FoundInstallation = {
  readonly kind: 'found'
  readonly installation: InstallationFacts
  readonly owner: OwnerAnswer
  readonly appId: number
}

/** GitHub's answer. */
export type InstallationAnswer =
  | FoundInstallation
  | { readonly kind: 'absent' }
  | { readonly kind: 'app-not-ready'; readonly message: string }
  | Unreachable

export type Facts = {
  readonly object: Installation
  readonly answer: InstallationAnswer
  /** Absent: nothing new is known of them. */
  readonly otherApps?: OtherApps
  /** Before the first request: the facts cover no later change. */
  readonly askedAt: Date
}

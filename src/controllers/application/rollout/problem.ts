// What keeps a rollout from proceeding.

/** Why a rollout does not proceed: a reason of the Ready condition, and a sentence with the cure. */
export type Problem = { readonly reason: string; readonly message: string }

// The refusal of an action. REST turns it into a status and a body, a page into a sentence.

export class Refusal extends Error {
  readonly status: 403 | 404 | 405 | 409 | 422
  readonly errors: readonly {
    readonly resource: string
    readonly field?: string
    readonly code: string
    readonly message?: string
  }[]
  constructor(status: Refusal['status'], message: string, errors: Refusal['errors'] = []) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.errors = errors
  }
}

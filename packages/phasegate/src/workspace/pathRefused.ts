/** Why a path of the workspace is not read or written. */
export type PathRefusal =
  | 'path_outside'
  | 'path_is_link'
  | 'path_not_found'
  | 'path_not_a_file'
  | 'path_not_a_folder'
  | 'path_exists'
  | 'path_changed'
  | 'outside_write_scope'
  | 'too_large';

/** A path that is refused for every caller and in whatever mode. */
export class PathRefused extends Error {
  readonly code: PathRefusal;

  constructor(code: PathRefusal, message: string) {
    super(message);
    this.name = 'PathRefused';
    this.code = code;
  }
}

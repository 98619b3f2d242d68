/** Styles are imported for what they do, and export nothing. */
declare module '*.css';

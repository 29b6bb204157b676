from fastapi import APIRouter, Depends, HTTPException

from app.auth import get_current_user, require_admin
from app.db import get_db
from app.models import Project

router = APIRouter()


@router.put("/projects/{project_id}/owner")
def change_owner(project_id: int, body: dict, db=Depends(get_db), user=Depends(get_current_user)):
    project = db.get(Project, project_id)
    if project.owner_id != user.id:
        raise HTTPException(404)
    project.owner_id = body["owner"]
    db.commit()
    return {}


@router.put("/projects/{project_id}/owner/force")
def force_owner(project_id: int, body: dict, db=Depends(get_db), admin=Depends(require_admin)):
    project = db.get(Project, project_id)
    project.owner_id = body["owner"]
    db.commit()
    return {}
